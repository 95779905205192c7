"""The output of `isthmus ps` and `isthmus top`."""

import time
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from isthmus.base.units import format_bytes, length
from isthmus.run.whereabouts import ranks_text
from isthmus.seeing.rows import Rows
from isthmus.seeing.runs import Run
from isthmus.seeing.sight import Rank, Sight, Traffic

_STATES = {
    "waiting": "in MPI, waiting for another cluster",
    "native": "in the native library",
    "computing": "computing, or in MPI within their cluster",
    "running": "running, not in MPI yet or native",
    "silent": "silent",
    "starting": "starting",
    "ended": "ended",
    "lost": "lost with their agent",
    "failed": "of a cluster that has failed",
}


def runs_table(found: Sequence[Run]) -> Rows:
    rows = Rows(
        ("run", "process", "since", "ranks", "clusters", "program"),
        spare=("since", "process", "clusters", "ranks"),
        cropped="program",
    )
    for run in found:
        about = run.about
        clusters = [str(c.get("name")) for c in about.get("clusters") or []]
        rows.add(
            run.job,
            str(about.get("pid", "")),
            _clock(float(about.get("started") or 0)) if about else "",
            str(about.get("size", "")),
            _some(clusters) if about else "does not answer: it is stopped",
            str(about.get("program", "")),
        )
    return rows


def ranks_table(ranks: Iterable[Rank]) -> Rows:
    rows = Rows(
        ("rank", "cluster", "host", "process", "state", "program"),
        right=("rank", "process"),
        spare=("state", "cluster", "host"),
        cropped="program",
    )
    for rank in ranks:
        pid = "?" if rank.pid is None else str(rank.pid)
        rows.add(
            str(rank.rank), rank.cluster, rank.host or "?", pid, rank.state, rank.program or "?"
        )
    return rows


def live(sight: Sight, *, room: int | None = None) -> RenderableType:
    """A whole view. Links, and what ranks wait for, are limited to what fits into `room` lines: the
    busiest links, and the ranks that wait longest."""
    parts: list[RenderableType] = [_head(sight), "", _clusters(sight, whole=room is None)]
    if sight.alone:
        parts += ["", "One cluster: a native job, whose messages do not go through Isthmus."]
    waits = _waits(sight)
    left = (
        None
        if room is None
        else room - 6 - len(sight.clusters) - len(sight.spares) - (3 if waits else 0)
    )
    if sight.traffic:
        most = None if left is None else max(3, left - 4 - min(len(waits), 3))
        shown, more = _busiest(sight.traffic, most)
        parts += ["", _traffic(shown)]
        if more:
            parts.append(f"and {more} more; --once shows all")
        left = None if left is None else left - 3 - len(shown) - bool(more)
    if waits:
        told = waits if left is None else waits[: max(3, left)]
        parts += ["", "waiting:", *(Text("  " + line) for line in told)]
        if len(told) < len(waits):
            parts.append(f"  and {len(waits) - len(told)} more; --where shows all")
    return Group(*parts)


def _head(sight: Sight) -> Text:
    runs = length(sight.time - sight.started)
    text = f"{sight.job}  {sight.size} ranks  for {runs}  {sight.program}"
    return Text(text, no_wrap=True, overflow="ellipsis")


def _clusters(sight: Sight, *, whole: bool) -> Rows:
    """A line for each cluster, with the states of its ranks."""
    doing = "state of ranks"
    rows = Rows(
        ("cluster", "host", "ranks", "joined", doing),
        right=("ranks", "joined"),
        spare=("host", "joined"),
        wrapped=doing if whole else "",
        cropped="" if whole else doing,
    )
    for cluster in sight.clusters:
        states = [rank.state for rank in sight.ranks if rank.cluster == cluster.name]
        counts = [(states.count(state), text) for state, text in _STATES.items()]
        text = "; ".join(f"{count} {text}" for count, text in counts if count)
        rows.add(cluster.name, cluster.host, str(cluster.size), str(cluster.joined), text)
    for spare in sight.spares:
        rows.add(spare.name, spare.host, "0", "0", "spare, for MPI_Comm_spawn")
    return rows


def _busiest(traffic: Sequence[Traffic], most: int | None) -> tuple[Sequence[Traffic], int]:
    """The `most` busiest in their order, and the number of others."""
    if most is None or len(traffic) <= most:
        return traffic, 0
    by_rate = sorted(traffic, key=lambda one: (-(one.rate or 0), -one.wire_bytes))[:most]
    return [one for one in traffic if one in by_rate], len(traffic) - most


def _traffic(traffic: Iterable[Traffic]) -> Rows:
    columns = ("rate", "round trip", "backlog", "lost", "streams", "messages", "bytes")
    rows = Rows(
        ("link", *columns, ""),
        right=columns,
        spare=("streams", "messages", "lost", "backlog", "bytes", "round trip"),
    )
    for one in traffic:
        rows.add(
            f"{one.source} -> {one.target}" + ("" if one.way == "link" else f", {one.way}"),
            _rate(one.rate),
            f"{1000 * one.rtt:.3g} ms" if one.rtt else "",
            _bytes(one.waiting),
            _lost(one),
            "" if one.streams is None else str(one.streams),
            str(one.messages),
            format_bytes(one.bytes),
            f"silent for {one.silence:.0f} s" if one.silence else "",
        )
    return rows


def _lost(one: Traffic) -> str:
    text = _bytes(one.lost)
    return f"{text} (+{format_bytes(one.lost_now)})" if one.lost_now else text


def _waits(sight: Sight) -> list[str]:
    """Ranks that say the same share a line; those that wait longest come first."""
    alike: dict[str, list[Rank]] = {}
    for rank in sight.ranks:
        if rank.state == "waiting":
            alike.setdefault(rank.waits_for, []).append(rank)
    groups = [(max(r.seconds for r in ranks), text, ranks) for text, ranks in alike.items()]
    return [
        f"{ranks_text([r.rank for r in ranks])}: {text}, for {length(longest)}"
        for longest, text, ranks in sorted(groups, key=lambda group: -group[0])
    ]


def _some(names: Sequence[str]) -> str:
    """All names if they are few."""
    most = 4
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{format_bytes(rate)}/s"


def _bytes(count: int | None) -> str:
    return "" if count is None else format_bytes(count)


def _clock(since_1970: float) -> str:
    then = time.localtime(since_1970)
    today = time.strftime("%F", then) == time.strftime("%F")
    return time.strftime("%T" if today else "%F %T", then)
