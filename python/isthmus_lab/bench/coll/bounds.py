"""Bounds from the wires: times that no algorithm can beat by much where the nodes' links are the
bottleneck."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wires:
    """`bandwidth` is the TCP goodput of a node's link, in bytes per second. `delay` is the seconds
    one way over the wide area, to the farthest site."""

    bandwidth: float
    delay: float

    def as_json(self) -> dict[str, Any]:
        return {"bandwidth": self.bandwidth, "delay": self.delay}


def wires_from_json(data: dict[str, Any]) -> Wires:
    return Wires(float(data["bandwidth"]), float(data["delay"]))


# Messages, or blocks of one rank, that pass a node's link in one direction.
_MESSAGES = {"barrier": 0, "bcast": 1, "reduce": 1, "allreduce": 2, "scan": 1, "exscan": 1}


def bound(collective: str, size: int, ranks: int, wires: Wires) -> float:
    """Seconds. A rank's own block passes no link."""
    passing = _MESSAGES.get(collective, ranks - 1)
    return passing * size / wires.bandwidth + wires.delay
