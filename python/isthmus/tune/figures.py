"""The measurements, and the figures for the choice of collective algorithms."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from pydantic import Field

from isthmus.base.errors import RunError
from isthmus.base.latermodel import LaterModel
from isthmus.grid import networktext
from isthmus.grid.networktext import rate, time

# The part of a pair's own rate that it has beside others. Pairs that share nothing keep all of it;
# two alike that share a stretch have half of it.
_SHARES = 0.75
# Seconds one way between clusters of one room. There a segment of a pipeline costs as much as a
# message by itself, since ranks wait for processors. 1 MiB over `room` (two cores) was broadcast in
# 14 ms by `striped`, which was chosen at 2 us for a segment, and in 2.6 by `magpie`; reduced in 35
# and 5.4 (medians on a busy machine, November 2026).
_ROOM = 100e-6
_NARROW = 0.5
_OF_LINKS = 0.85  # of the links' capacity: headers, and streams that end at different times
# Part of the hosts' capacity: a fan of many streams takes more of shared processors (803 Mbit/s of
# 958 where paths share nothing, `distant` on two busy cores, November 2026).
_OF_HOSTS = 0.7


class ClusterFigures(LaterModel):
    """Seconds one way and bytes a second of a rank's link; 0: could not be measured. `halves` ranks
    of one half of the hosts sent to the other half at the same time, `across` bytes a second
    together."""

    name: str
    ranks: int
    latency: float = Field(ge=0)
    rate: float = Field(ge=0)
    message: float = Field(ge=0)
    halves: int = 0
    across: float = Field(default=0, ge=0)

    @property
    def narrow(self) -> bool:
        """Whether the network between the halves carries less than half of what the links do."""
        return 0 < self.across < _NARROW * self.halves * self.rate


class PairFigures(LaterModel):
    between: tuple[str, str]
    latency: float = Field(ge=0)
    rate: float = Field(ge=0)
    senders: int
    message: float = Field(default=0, ge=0)


class FanFigures(LaterModel):
    """Bytes that went from one cluster to each of the others, alone and all at the same time, with
    the seconds until they arrived. `both_bytes` went in `both_seconds` between it and one other,
    both ways at the same time; 0: not measured."""

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
        """Rates by cluster, for clusters that were measured."""
        each = zip(self.to, self.bytes, self.seconds, strict=True)
        return {to: sent / taken for to, sent, taken in each if taken > 0}

    def together(self, others: Collection[str]) -> float:
        """Bytes a second to all of `others`, until the last of them has everything: one that is
        done sooner leaves the shared stretch to the rest."""
        each = zip(self.to, self.bytes, self.seconds, strict=True)
        chosen = [(sent, taken) for to, sent, taken in each if to in others]
        longest = max((taken for _, taken in chosen), default=0)
        return sum(sent for sent, _ in chosen) / longest if longest else 0


class Figures(LaterModel):
    clusters: list[ClusterFigures]
    pairs: list[PairFigures]
    fans: list[FanFigures] = []

    def network(self, without: Collection[str] = ()) -> str:
        """The text for ISTHMUS_NETWORK (docs/collectives.md), `without` some of its keys.
        `shared=SOURCE` is the stretch that the paths from there share. The worst cluster counts,
        since a collective waits for the last. The worst pair counts, too, with entries for pairs
        that differ. For several runs see `best`."""
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
        """The stretches that paths from one cluster to several others share: such paths carry less
        while all are used. They do not count if together they reach the capacity of the cluster's
        own links, or of its hosts and gateways. That capacity is what one path carries both ways,
        if that is less than it carries each way alone."""
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
    """Bytes a second. `seconds` last from the word to begin to the last arrival; a round trip of
    them passes before anything can arrive. The result never exceeds what the network carries, as
    everything arrived within that time. 0: not measured."""
    under_way = max(seconds - 2 * latency, seconds / 2)
    return size / under_way if under_way > 0 else 0


def parse(text: str) -> Figures:
    """Reads the output of tune.c."""
    try:
        data = json.loads(text)
        for one in (*data["clusters"], *data["pairs"]):
            one["rate"] = carried(one.pop("bytes"), one.pop("seconds"), one["latency"])
        for one in data["clusters"]:
            took = one.pop("halves_seconds", 0)
            one["across"] = carried(one.pop("halves_bytes", 0), took, one["latency"])
        return Figures.model_validate(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"the measuring program printed invalid figures: {error}") from None


def best(runs: Sequence[Figures]) -> Figures:
    """The least times and the highest rates of several runs: other work on a machine makes them
    worse. Fans are all kept, so that a stretch is one that no run saw carry more."""
    return Figures(
        clusters=[_best(same) for same in zip(*(run.clusters for run in runs), strict=True)],
        pairs=[_best(same) for same in zip(*(run.pairs for run in runs), strict=True)],
        fans=[fan for run in runs for fan in run.fans],
    )


def _best(same: Sequence[Any]) -> Any:
    found = same[0].model_dump()
    for key, pick in (("latency", min), ("message", min), ("rate", max), ("across", max)):
        if key in found:
            found[key] = pick(getattr(one, key) for one in same)
    return type(same[0])(**found)
