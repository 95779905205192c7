"""The output of isthmus-sim, and the times that no algorithm can beat."""

import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from isthmus.base.errors import RunError
from isthmus_lab.bench.coll import bounds
from isthmus_lab.bench.coll.bounds import Wires
from isthmus_lab.bench.coll.tasks import size_text
from isthmus_lab.measuring.machine import Machine
from isthmus_lab.measuring.samples import NotMeasuredError


class Network(BaseModel):
    """Seconds one way, bytes a second."""

    wan_latency: float
    wan_bandwidth: float
    link_latency: float
    link_bandwidth: float
    paths: int


class Busiest(BaseModel):
    """The member's link that carried most, and the part of the time in which it did."""

    rank: int
    way: str
    bytes: int
    load: float


class SimRun(BaseModel):
    """`seconds` is when the last rank was done; `asked` is the algorithm asked for, if any."""

    collective: str
    bytes: int
    clusters: int
    ranks: int
    algorithm: str
    seconds: float
    median: float
    estimate: float
    messages: int
    events: int
    busiest: Busiest
    wan: list[dict[str, int]]
    network: Network
    simulated: dict[str, float]
    asked: str = ""

    @property
    def what(self) -> str:
        return self.collective if not self.bytes else f"{self.collective} {size_text(self.bytes)}"

    @property
    def bound(self) -> float:
        """The least time for the members' links, and for crossing between two clusters."""
        wires = Wires(self.network.link_bandwidth, self.network.wan_latency)
        links = bounds.bound(self.collective, self.bytes, self.ranks, wires)
        across = _crossing(self.collective, self.bytes, self.ranks // self.clusters)
        if self.clusters == 1:
            return links - wires.delay
        return max(links, across / self.network.wan_bandwidth + wires.delay)

    @property
    def over_bound(self) -> float:
        return self.seconds / self.bound if self.bound > 0 else 1


@dataclass
class SimResults:
    """Simulations, read like the samples of other benchmarks. They do not depend on the machine."""

    runs: list[SimRun] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    machines: dict[str, Machine] = field(default_factory=dict)
    busy: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"runs": [run.model_dump() for run in self.runs], "left": self.failed}

    def merge(self, data: dict[str, Any]) -> None:
        self.runs += [SimRun.model_validate(run) for run in data["runs"]]
        self.failed += [str(sentence) for sentence in data["left"]]

    def largest(self, collective: str, asked: str) -> SimRun:
        """The simulation of the largest message by that algorithm; "": the chosen one."""
        found = [r for r in self.runs if (r.collective, r.asked) == (collective, asked)]
        if not found:
            raise NotMeasuredError(f"{collective} by {asked or 'the chosen algorithm'}")
        return max(found, key=lambda run: run.bytes)


def _crossing(collective: str, size: int, members: int) -> int:
    """The least number of bytes from one cluster to another."""
    if collective == "alltoall":
        return size * members**2
    if collective in ("gather", "scatter", "allgather", "reduce_scatter"):
        return size * members
    return size  # 0 for a barrier


def run_from_text(text: str, asked: str) -> SimRun:
    try:
        data: dict[str, Any] = json.loads(text)
        return SimRun.model_validate({**data, "asked": asked})
    except (ValueError, ValidationError) as error:
        raise RunError(f"isthmus-sim printed invalid results: {error}") from None
