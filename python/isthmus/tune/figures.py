"""What was measured, and what the choice of collective algorithms goes by."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from pydantic import Field

from isthmus import networktext
from isthmus.errors import RunError
from isthmus.latermodel import LaterModel
from isthmus.networktext import rate, time

# Of a pair's own rate, beside others: two that share nothing keep it, two alike that share a
# stretch have half of it.
_SHARES = 0.75
# Seconds one way between clusters of one room. A segment of a pipeline costs there what a message
# by itself does, for ranks wait for processors and not for the way: 1 MiB over `room` (two cores)
# was broadcast in 14 ms by `striped`, which was chosen at 2 us for a segment, and in 2.6 by
# `magpie`; reduced in 35 and 5.4 (medians on a busy machine, November 2026).
_ROOM = 100e-6
_OF_LINKS = 0.85  # of what all links carry: headers, and ends of streams that are not at one time
# Of what hosts have carried: a fan of many streams takes more of processors that others use, too
# (803 Mbit/s of 958 where ways share nothing, `distant` on two busy cores, November 2026).
_OF_HOSTS = 0.7


class ClusterFigures(LaterModel):
    """Seconds one way and bytes a second of a rank's link; 0: could not be measured."""

    name: str
    ranks: int
    latency: float = Field(ge=0)
    rate: float = Field(ge=0)
    message: float = Field(ge=0)


class PairFigures(LaterModel):
    between: tuple[str, str]
    latency: float = Field(ge=0)
    rate: float = Field(ge=0)
    senders: int
    message: float = Field(default=0, ge=0)


class FanFigures(LaterModel):
    """What went from one cluster to each of the others, to all of them at the same time, and the
    seconds until it was there. `both_bytes` went in `both_seconds` between it and one other, both
    ways at the same time; 0: not measured."""

    source: str
    to: list[str]
    bytes: list[float]
    seconds: list[float]
    both_bytes: float = Field(default=0, ge=0)
    both_seconds: float = Field(default=0, ge=0)

    @property
    def both_ways(self) -> float:
        """Bytes a second."""
        return self.both_bytes / self.both_seconds if self.both_seconds else 0

    @property
    def rates(self) -> dict[str, float]:
        """By cluster, of those that were measured."""
        each = zip(self.to, self.bytes, self.seconds, strict=True)
        return {to: sent / taken for to, sent, taken in each if taken > 0}

    def together(self, others: Collection[str]) -> float:
        """Bytes a second to all of `others`: until the last of them has everything, since one that
        has it sooner leaves what they share to the rest."""
        each = zip(self.to, self.bytes, self.seconds, strict=True)
        chosen = [(sent, taken) for to, sent, taken in each if to in others]
        longest = max((taken for _, taken in chosen), default=0)
        return sum(sent for sent, _ in chosen) / longest if longest else 0


class Figures(LaterModel):
    clusters: list[ClusterFigures]
    pairs: list[PairFigures]
    fans: list[FanFigures] = []

    def network(self, without: Collection[str] = ()) -> str:
        """For ISTHMUS_NETWORK (docs/collectives.md), `without` some of its keys; `shared=SOURCE` is
        the stretch of the ways from there. Of several clusters the worst, since a collective waits
        for the last; of pairs the worst, too, and what differs from it; of several runs see
        `best`."""
        every: list[ClusterFigures | PairFigures] = [*self.clusters, *self.pairs]
        segments = [c.message for c in self.clusters]
        segments += [pair.message for pair in self.pairs if 0 < pair.latency < _ROOM]
        ways = [
            networktext.Way(
                between=pair.between,
                latency=0 if "wan-latency" in without else pair.latency,
                rate=0 if "wan-rate" in without else pair.rate,
            )
            for pair in self.pairs
        ]
        keys = {
            "link-latency": time(max((c.latency for c in self.clusters), default=0)),
            "link-rate": rate(min((c.rate for c in self.clusters if c.rate > 0), default=0)),
            "message-cost": time(max((x.message for x in every), default=0)),
            "stream-cost": time(max(segments, default=0)),
        }
        rest = [f"{key}={value}" for key, value in keys.items() if value and key not in without]
        found = [
            stretch
            for stretch in self.stretches()
            if {"wan-rate", f"shared={stretch.between[0][0]}"}.isdisjoint(without)
        ]
        return ",".join(
            [
                *networktext.worst(ways),
                *rest,
                *networktext.pairs(ways),
                *networktext.shared(found),
            ]
        )

    def stretches(self) -> list[networktext.Stretch]:
        """What the ways from one cluster to several others share: those that carry less while all
        are used do, unless they carry together what the cluster's own links do, or what its hosts
        and gateways do: as much as goes both ways of one, where even that is less than each way
        carries alone."""
        alone = {frozenset(pair.between): pair.rate for pair in self.pairs}
        links = {cluster.name: cluster.ranks * cluster.rate for cluster in self.clusters}
        found = []
        for source in dict.fromkeys(fan.source for fan in self.fans):
            same = [fan for fan in self.fans if fan.source == source]
            slowed = [
                to
                for to in same[0].to
                if 0
                < max(fan.rates.get(to, 0) for fan in same)
                < _SHARES * alone[frozenset((source, to))]
            ]
            carried = max(fan.together(fan.to) for fan in same)
            both = max(fan.both_ways for fan in same)
            widest = max(alone[frozenset((source, to))] for to in same[0].to)
            hosts = both if both < _OF_LINKS * 2 * widest else 0
            full = 0 < _OF_LINKS * links[source] <= carried or 0 < _OF_HOSTS * hosts <= carried
            if len(slowed) > 1 and not full:
                rate = max(fan.together(slowed) for fan in same)
                found.append(networktext.Stretch([(source, to) for to in slowed], rate))
        return found


def carried(size: float, seconds: float, latency: float) -> float:
    """Bytes a second, from what went and the seconds between the word to begin and the arrival of
    the last of it, a round trip of which went by before anything could come. Never more than the
    network carries: all of it has arrived within that time. 0: not measured."""
    under_way = max(seconds - 2 * latency, seconds / 2)
    return size / under_way if under_way > 0 else 0


def parse(text: str) -> Figures:
    """What tune.c printed."""
    try:
        data = json.loads(text)
        for one in (*data["clusters"], *data["pairs"]):
            one["rate"] = carried(one.pop("bytes"), one.pop("seconds"), one["latency"])
        return Figures.model_validate(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"the measuring program said nonsense: {error}") from None


def best(runs: Sequence[Figures]) -> Figures:
    """Of several runs the least times and the highest rates: whatever else a machine does makes
    them worse. Of fans all, so that a stretch is one that no run saw carry more."""
    return Figures(
        clusters=[_best(same) for same in zip(*(run.clusters for run in runs), strict=True)],
        pairs=[_best(same) for same in zip(*(run.pairs for run in runs), strict=True)],
        fans=[fan for run in runs for fan in run.fans],
    )


def _best(same: Sequence[Any]) -> Any:
    found = same[0].model_dump()
    for key, pick in (("latency", min), ("message", min), ("rate", max)):
        if key in found:
            found[key] = pick(getattr(one, key) for one in same)
    return type(same[0])(**found)
