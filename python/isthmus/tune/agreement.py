"""The reliability of measured figures: whether runs agree with each other and with the grid file.

A busy machine makes figures worse, never better. So the best of several runs counts, and it is
believed once a second run has come near it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isthmus.grid.grid import Grid, LinkSpec
from isthmus.tune.figures import ClusterFigures, Figures, PairFigures, best

_SLIGHT = 5e-6  # seconds: a shared processor may wake later
# The second best figure may differ from the best by this part. A message costs some microseconds of
# a shared processor; choices change at half and double of that.
NEAR = {"latency": 0.15, "rate": 0.15, "message": 0.5}
# A measured link may have these parts of the grid file's `rate` and `rtt`. The rate counts only as
# far as the members' own links carry it. Headers and the shaper's burst change the rate by a few
# percent; small messages wait for the processors.
_RATE = (0.5, 1.2)
_TRIP = (0.8, 1.5)
_SLACK = 1e-3  # seconds, for a processor that is busy elsewhere

# The keys of ISTHMUS_NETWORK that the figures decide.
_CLUSTER_KEYS = {
    "latency": ("link-latency",),
    "rate": ("link-rate",),
    "message": ("message-cost", "stream-cost"),
}
_PAIR_KEYS = {"latency": ("wan-latency",), "rate": ("wan-rate",), "message": ("message-cost",)}
_NAMES = {"latency": "latency", "rate": "bandwidth", "message": "cost of a message"}


def told(spread: float) -> str:
    """A relative difference in words; from 100 % on it is a factor."""
    return f"{100 * spread:.0f} %" if spread < 1 else f"a factor of {1 + spread:.3g}"


@dataclass(frozen=True)
class Doubt:
    """A figure that is not believed: the keys of ISTHMUS_NETWORK that it would decide, and why."""

    keys: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """`figures` are the best of all runs. `spreads` say for each row of them (clusters, then pairs)
    how far away the second best run is, at worst. A single run has None."""

    figures: Figures
    spreads: list[float | None]
    doubts: list[Doubt]

    @property
    def left_out(self) -> frozenset[str]:
        return frozenset(key for doubt in self.doubts for key in doubt.keys)


def judge(runs: Sequence[Figures], grid: Grid) -> Verdict:
    """Needs at least one run."""
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
        doubts += _against_rates(what, pair, found, grid)
        doubts += _against_trip(what, pair, grid)
        if 0 < pair.latency < pair.message:
            text = f"{what}: a message costs more than its latency"
            doubts.append(Doubt(_PAIR_KEYS["message"], text))
    doubts += _fans(runs, found)
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
        slight = key == "latency" and values[1] - values[0] < _SLIGHT
        spread = 0.0 if slight else abs(values[1] / values[0] - 1)
        worst = max(worst or 0.0, spread)
        if spread > NEAR[key]:
            text = f"{what}: the {_NAMES[key]} differs by {told(spread)} between the best runs"
            doubts.append(Doubt(names, text))
    return worst


def _fans(runs: Sequence[Figures], found: Figures) -> list[Doubt]:
    """A shared stretch is believed if two runs measured it alike."""
    doubts = []
    for stretch in found.stretches():
        source, others = stretch.between[0][0], [other for _, other in stretch.between]
        same = [fan.together(others) for run in runs for fan in run.fans if fan.source == source]
        best, *rest = sorted(same, reverse=True)
        if rest and best > (1 + NEAR["rate"]) * rest[0]:
            what = f"from {source} to {' and '.join(others)} at the same time"
            spread = f"{100 * (1 - rest[0] / best):.0f} %"
            text = f"{what}: the bandwidth differs by {spread} between the best runs"
            doubts.append(Doubt((f"shared={source}",), text))
    return doubts


def _link_between(pair: PairFigures, grid: Grid) -> LinkSpec | None:
    return next((link for link in grid.link if set(link.between) == set(pair.between)), None)


def _of_links(pair: PairFigures, found: Figures) -> float:
    """The capacity of the links of all senders together, or of all receivers; 0: not known."""
    rates = [c.rate for c in found.clusters if c.name in pair.between]
    return pair.senders * min(rates, default=0)


def _against_rates(what: str, pair: PairFigures, found: Figures, grid: Grid) -> list[Doubt]:
    """Compares with the grid file's rate, or with the members' links where they are narrower."""
    link = _link_between(pair, grid)
    if not link or not link.rate or pair.rate <= 0:
        return []
    links = _of_links(pair, found)
    narrow = 0 < links < link.rate.bytes
    share = pair.rate / (links if narrow else link.rate.bytes)
    if _RATE[0] <= share <= _RATE[1]:
        return []
    by = (
        f"the capacity of {pair.senders} links of members"
        if narrow
        else f"the {link.rate} in the grid file"
    )
    text = f"{what}: the bandwidth is {100 * share:.0f} % of {by}"
    return [Doubt(_PAIR_KEYS["rate"], text)]


def _against_trip(what: str, pair: PairFigures, grid: Grid) -> list[Doubt]:
    """Compares with the round trip in the grid file."""
    link = _link_between(pair, grid)
    if not link or not link.rtt or pair.latency <= 0:
        return []
    half = link.rtt.seconds / 2
    if _TRIP[0] * half <= pair.latency <= _TRIP[1] * half + _SLACK:
        return []
    trip = f"{2e3 * pair.latency:.3g} ms"
    text = f"{what}: a round trip takes {trip}, but the grid file says {link.rtt}"
    return [Doubt(_PAIR_KEYS["latency"], text)]
