"""What was measured, and what the choice of collective algorithms goes by."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pydantic import BaseModel, Field

from isthmus.errors import RunError
from isthmus.grid import Grid


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
        clusters or pairs the worst, since a collective waits for the last; of several runs see
        `best`."""
        every: list[ClusterFigures | PairFigures] = [*self.clusters, *self.pairs]
        keys = {
            "wan-latency": _time(max((p.latency for p in self.pairs), default=0)),
            "wan-rate": _rate(_least(p.rate for p in self.pairs)),
            "link-latency": _time(max((c.latency for c in self.clusters), default=0)),
            "link-rate": _rate(_least(c.rate for c in self.clusters)),
            "message-cost": _time(max((x.message for x in every), default=0)),
            "stream-cost": _time(max((c.message for c in self.clusters), default=0)),
        }
        return _entries({key: value for key, value in keys.items() if key not in without})


def of_links(grid: Grid) -> str:
    """What a grid file says of its links, for ISTHMUS_NETWORK: the longest and the slowest."""
    times = [link.rtt.seconds / 2 for link in grid.link if link.rtt]
    rates = [link.rate.bytes for link in grid.link if link.rate]
    keys = {
        "wan-latency": _time(max(times, default=0)),
        "wan-rate": _rate(_least(rates)),
    }
    return _entries(keys)


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


def _entries(keys: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in keys.items() if value)


def _least(rates: Iterable[float]) -> float:
    return min((rate for rate in rates if rate > 0), default=0)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.3f}us" if seconds > 0 else ""


def _rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second * 8 / 1e6:.1f}M" if bytes_per_second > 0 else ""
