"""How sure measured figures are: whether runs agree, with each other and with the grid file.

A busy machine makes figures worse, never better. So the best of several runs counts, and it is
believed when a second run has come near it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isthmus.grid import Grid
from isthmus.tune.figures import ClusterFigures, Figures, PairFigures, best

NEAR = 0.15  # of the best figure, for the second best
# What of the grid file's `rate` and `rtt` a link may turn out to be. Headers and the shaper's
# burst make the rate a few percent less or more; small messages wait for the processors.
_RATE = (0.5, 1.2)
_TRIP = (0.8, 1.5)
_SLACK = 1e-3  # seconds, of a processor that is busy elsewhere

# What of ISTHMUS_NETWORK the figures decide.
_CLUSTER_KEYS = {
    "latency": ("link-latency",),
    "rate": ("link-rate",),
    "message": ("message-cost", "stream-cost"),
}
_PAIR_KEYS = {"latency": ("wan-latency",), "rate": ("wan-rate",), "message": ("message-cost",)}
_NAMES = {"latency": "latency", "rate": "bandwidth", "message": "cost of a message"}


@dataclass(frozen=True)
class Doubt:
    """A figure that is not believed: what of ISTHMUS_NETWORK it would have decided, and why."""

    keys: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """`figures` are the best of all runs; `spreads` say for each row of them (clusters, then pairs)
    how far the second best run is away, at the worst; None with a single run."""

    figures: Figures
    spreads: list[float | None]
    doubts: list[Doubt]

    @property
    def left_out(self) -> frozenset[str]:
        return frozenset(key for doubt in self.doubts for key in doubt.keys)


def judge(runs: Sequence[Figures], grid: Grid) -> Verdict:
    """At least one run."""
    found = best(runs)
    doubts: list[Doubt] = []
    spreads: list[float | None] = []
    for index, cluster in enumerate(found.clusters):
        same = [run.clusters[index] for run in runs]
        spreads.append(_agree(f"ranks of {cluster.name}", _CLUSTER_KEYS, same, doubts))
    for index, pair in enumerate(found.pairs):
        same_pair = [run.pairs[index] for run in runs]
        what = " and ".join(pair.between)
        spreads.append(_agree(what, _PAIR_KEYS, same_pair, doubts))
        doubts += _against_file(what, pair, grid)
        if 0 < pair.latency < pair.message:
            text = f"{what}: a message costs more than it takes to arrive"
            doubts.append(Doubt(_PAIR_KEYS["message"], text))
    return Verdict(found, spreads, doubts)


def _agree(
    what: str,
    keys: Mapping[str, tuple[str, ...]],
    same: Sequence[ClusterFigures] | Sequence[PairFigures],
    doubts: list[Doubt],
) -> float | None:
    worst: float | None = None
    for key, names in keys.items():
        values = sorted((getattr(one, key) for one in same), reverse=key == "rate")
        if len(values) < 2 or values[0] <= 0 or values[1] <= 0:
            continue
        spread = abs(values[1] / values[0] - 1)
        worst = max(worst or 0.0, spread)
        if spread > NEAR:
            text = (
                f"{what}: the {_NAMES[key]} differs by {100 * spread:.0f} % between the best runs"
            )
            doubts.append(Doubt(names, text))
    return worst


def _against_file(what: str, pair: PairFigures, grid: Grid) -> list[Doubt]:
    """What the grid file says of the link between the two, if there is one."""
    link = next((link for link in grid.link if set(link.between) == set(pair.between)), None)
    doubts = []
    if link and link.rate and pair.rate > 0:
        said = link.rate.bytes
        if not _RATE[0] <= pair.rate / said <= _RATE[1]:
            share = f"{100 * pair.rate / said:.0f} %"
            text = f"{what}: the bandwidth is {share} of the {link.rate} that the grid file says"
            doubts.append(Doubt(_PAIR_KEYS["rate"], text))
    if link and link.rtt and pair.latency > 0:
        half = link.rtt.seconds / 2
        if not _TRIP[0] * half <= pair.latency <= _TRIP[1] * half + _SLACK:
            trip = f"{2e3 * pair.latency:.3g} ms"
            text = f"{what}: a round trip takes {trip}, {link.rtt} by the grid file"
            doubts.append(Doubt(_PAIR_KEYS["latency"], text))
    return doubts
