"""What was measured, and what the choice of collective algorithms goes by."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from pydantic import BaseModel, Field

from isthmus import networktext
from isthmus.errors import RunError
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


class ClusterFigures(BaseModel):
    """Seconds one way and bytes a second, as tune.c says; 0: could not be measured."""

    name: str
    ranks: int
    latency: float = Field(ge=0)
    rate: float = Field(ge=0)
    message: float = Field(ge=0)


class PairFigures(BaseModel):
    between: tuple[str, str]
    latency: float = Field(ge=0)
    rate: float = Field(ge=0)
    senders: int
    message: float = Field(default=0, ge=0)


class FanFigures(BaseModel):
    """Bytes a second from one cluster to each of the others, to all of them at the same time."""

    source: str
    to: list[str]
    rates: list[float]


class Figures(BaseModel):
    clusters: list[ClusterFigures]
    pairs: list[PairFigures]
    fans: list[FanFigures] = []

    def network(self, without: Collection[str] = ()) -> str:
        """For ISTHMUS_NETWORK (docs/collectives.md), `without` some of its keys. Of several
        clusters the worst, since a collective waits for the last; of pairs the worst, too, and what
        differs from it; of several runs see `best`."""
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
        found = [] if "wan-rate" in without else self.stretches()
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
        are used do, unless they carry together what the cluster's own links do."""
        alone = {frozenset(pair.between): pair.rate for pair in self.pairs}
        links = {cluster.name: cluster.ranks * cluster.rate for cluster in self.clusters}
        found = []
        for fan in self.fans:
            slowed = {
                (fan.source, to): rate
                for to, rate in zip(fan.to, fan.rates, strict=True)
                if 0 < rate < _SHARES * alone[frozenset((fan.source, to))]
            }
            full = 0 < _OF_LINKS * links[fan.source] <= sum(fan.rates)
            if len(slowed) > 1 and not full:
                found.append(networktext.Stretch(list(slowed), sum(slowed.values())))
        return found


def parse(text: str) -> Figures:
    """What tune.c printed."""
    try:
        return Figures.model_validate(json.loads(text))
    except ValueError as error:
        raise RunError(f"the measuring program said nonsense: {error}") from None


def best(runs: Sequence[Figures]) -> Figures:
    """Of several runs the least times and the highest rates: whatever else a machine does makes
    them worse."""
    return Figures(
        clusters=[_best(same) for same in zip(*(run.clusters for run in runs), strict=True)],
        pairs=[_best(same) for same in zip(*(run.pairs for run in runs), strict=True)],
        fans=[_best_fan(same) for same in zip(*(run.fans for run in runs), strict=True)],
    )


def _best_fan(same: Sequence[FanFigures]) -> FanFigures:
    """So a stretch is one that no run saw carry more."""
    rates = [max(of_pair) for of_pair in zip(*(fan.rates for fan in same), strict=True)]
    return same[0].model_copy(update={"rates": rates})


def _best(same: Sequence[Any]) -> Any:
    found = same[0].model_dump()
    for key, pick in (("latency", min), ("message", min), ("rate", max)):
        if key in found:
            found[key] = pick(getattr(one, key) for one in same)
    return type(same[0])(**found)
