"""A run's answers to a viewer as values, and the differences between two of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cluster:
    name: str
    host: str
    size: int
    joined: int
    state: str  # starting, running, ended, lost


@dataclass(frozen=True)
class Spare:
    """A cluster in which nothing runs yet."""

    name: str
    host: str


@dataclass(frozen=True)
class Traffic:
    """One direction between two gateways, or two clusters. None: not measured there."""

    source: str
    target: str
    way: str  # "link", "memory", "direct", or the gateway that passes it on
    messages: int
    bytes: int
    wire_bytes: int
    rate: float | None = None  # bytes a second on the wire since the last view
    rtt: float | None = None  # seconds
    waiting: int | None = None  # bytes
    lost: int | None = None  # bytes that TCP has sent again
    lost_now: int | None = None  # part of these since the last view
    streams: int | None = None
    silence: float = 0.0  # seconds


@dataclass(frozen=True)
class Rank:
    rank: int
    cluster: str
    host: str | None
    pid: int | None
    program: str | None
    state: str  # starting, running, computing, native, waiting, silent, ended, lost
    waits_for: str
    seconds: float


@dataclass(frozen=True)
class Sight:
    """A view of a run; `interval` is the seconds since the last view, 0 for the first."""

    job: str
    program: str
    started: float
    time: float
    alone: bool
    clusters: list[Cluster]
    traffic: list[Traffic]
    ranks: list[Rank]
    interval: float = 0.0
    spares: list[Spare] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(cluster.size for cluster in self.clusters)


def read(answer: dict[str, Any], before: Sight | None = None) -> Sight:
    """Reads an answer to "look" or "ranks". KeyError, TypeError or ValueError if it comes from
    another release."""
    now = float(answer["time"])
    interval = now - before.time if before else 0.0
    last = {(t.source, t.target, t.way): t for t in before.traffic} if before else {}
    return Sight(
        job=str(answer["job"]),
        program=str(answer["program"]),
        started=float(answer["started"]),
        time=now,
        alone=bool(answer["alone"]),
        clusters=[
            Cluster(c["name"], c["host"], int(c["size"]), int(c["joined"]), c["state"])
            for c in answer["clusters"]
        ],
        traffic=[_with_rate(one, last, interval) for one in _traffic(answer)],
        ranks=[
            Rank(
                rank=int(r["rank"]),
                cluster=r["cluster"],
                host=r.get("host"),
                pid=r.get("pid"),
                program=r.get("program"),
                state=r["state"],
                waits_for=r.get("for") or "",
                seconds=float(r.get("seconds") or 0),
            )
            for r in answer["ranks"]
        ],
        spares=[Spare(s["name"], s["host"]) for s in answer.get("spares") or []],
        interval=interval,
    )


def _traffic(answer: dict[str, Any]) -> Iterable[Traffic]:
    for link in answer.get("links") or []:
        yield Traffic(
            **_counts(link),
            way="link",
            rtt=float(link.get("rtt") or 0) or None,
            waiting=int(link.get("waiting") or 0),
            lost=int(link.get("lost_bytes") or 0),
            streams=int(link.get("streams") or 0),
            silence=float(link.get("silence") or 0),
        )
    for crossing in answer.get("crossings") or []:
        yield Traffic(**_counts(crossing), way=f"by {crossing['by']}")
    for direct in answer.get("direct") or []:
        if direct.get("memory"):
            yield Traffic(**_counts(direct), way="memory")
        else:
            yield Traffic(
                **_counts(direct),
                way="direct",
                lost=int(direct.get("lost_bytes") or 0),
                streams=int(direct.get("streams") or 0),
            )


def _counts(one: dict[str, Any]) -> dict[str, Any]:
    counts = {name: int(one.get(name) or 0) for name in ("messages", "bytes", "wire_bytes")}
    return {"source": str(one["from"]), "target": str(one["to"]), **counts}


def _with_rate(now: Traffic, last: dict[tuple[str, str, str], Traffic], interval: float) -> Traffic:
    before = last.get((now.source, now.target, now.way))
    if interval <= 0:
        return now
    # Traffic that began since the last view had sent nothing before. A rank that does not answer
    # takes its share of traffic without gateways out of the sum for a while.
    sent = now.wire_bytes - (before.wire_bytes if before else 0)
    lost = (now.lost or 0) - ((before.lost or 0) if before else 0)
    return Traffic(
        **{
            **now.__dict__,
            "rate": max(0, sent) / interval,
            "lost_now": max(0, lost) if now.lost is not None else None,
        }
    )
