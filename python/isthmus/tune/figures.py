"""What was measured, and what the choice of collective algorithms goes by."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from pydantic import BaseModel, Field

from isthmus import networktext
from isthmus.errors import RunError
from isthmus.networktext import rate, time


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


class Figures(BaseModel):
    clusters: list[ClusterFigures]
    pairs: list[PairFigures]

    def network(self, without: Collection[str] = ()) -> str:
        """For ISTHMUS_NETWORK (docs/collectives.md), `without` some of its keys. Of several
        clusters the worst, since a collective waits for the last; of pairs the worst, too, and what
        differs from it; of several runs see `best`."""
        every: list[ClusterFigures | PairFigures] = [*self.clusters, *self.pairs]
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
            "stream-cost": time(max((c.message for c in self.clusters), default=0)),
        }
        rest = [f"{key}={value}" for key, value in keys.items() if value and key not in without]
        return ",".join([*networktext.worst(ways), *rest, *networktext.pairs(ways)])


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
    )


def _best(same: Sequence[Any]) -> Any:
    found = same[0].model_dump()
    for key, pick in (("latency", min), ("message", min), ("rate", max)):
        if key in found:
            found[key] = pick(getattr(one, key) for one in same)
    return type(same[0])(**found)
