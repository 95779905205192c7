"""The cost of crossing from one cluster to another."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isthmus.grid.grid import Grid
from isthmus.mapping.traffic import Volume
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.tune.figures import PairFigures

# For links without figures, as in src/coll/engine/network.hpp.
_LATENCY, _RATE = 5e-3, 125e6

Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Wires:
    """The seconds that a message and a byte take from cluster to cluster, by index; symmetric, and
    0 inside."""

    message: Matrix
    byte: Matrix

    @property
    def clusters(self) -> int:
        return len(self.message)

    def seconds(self, volume: Volume, a: int, b: int) -> float:
        return volume.messages * self.message[a][b] + volume.bytes * self.byte[a][b]

    def mean(self, volume: Volume) -> float:
        """Between two clusters whose ranks are not known yet."""
        n = self.clusters
        pairs = [(a, b) for a in range(n) for b in range(a)]
        return sum(self.seconds(volume, a, b) for a, b in pairs) / len(pairs) if pairs else 0.0


def alike(clusters: int, latency: float = _LATENCY, rate: float = _RATE) -> Wires:
    """The same links between all pairs of clusters."""

    def matrix(value: float) -> Matrix:
        return [[0.0 if a == b else value for b in range(clusters)] for a in range(clusters)]

    return Wires(matrix(latency), matrix(1 / rate))


def of_grid(grid: Grid, measured: Iterable[PairFigures] = ()) -> Wires:
    """The grid file's figures of its links. Clusters without a link of their own use the path of
    the least latency: the sum of its latencies, and its lowest rate. Measurements of `isthmus tune`
    for two clusters replace both."""
    names = list(grid.cluster)
    n = len(names)
    latency = [[0.0 if a == b else math.inf for b in range(n)] for a in range(n)]
    rate = [[math.inf if a == b else 0.0 for b in range(n)] for a in range(n)]
    plan = make_plan(grid, [Part(["true"], 1, on=name) for name in names])
    for (a, b), link in plan.pairs.items():
        latency[a][b] = latency[b][a] = link.rtt.seconds / 2 if link.rtt else _LATENCY
        rate[a][b] = rate[b][a] = link.rate.bytes if link.rate else _RATE
    for via in range(n):
        for a in range(n):
            for b in range(n):
                way = latency[a][via] + latency[via][b]
                if way < latency[a][b]:
                    latency[a][b] = way
                    rate[a][b] = min(rate[a][via], rate[via][b])
    known = [[_LATENCY if math.isinf(each) else each for each in row] for row in latency]
    byte = [[0.0 if a == b else 1 / (rate[a][b] or _RATE) for b in range(n)] for a in range(n)]
    for pair in measured:
        a, b = (names.index(name) for name in pair.between)
        if pair.latency:
            known[a][b] = known[b][a] = pair.latency
        if pair.rate:
            byte[a][b] = byte[b][a] = 1 / pair.rate
    return Wires(known, byte)
