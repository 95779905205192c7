"""The places of ranks and their links, in the grid of the profile or in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from isthmus.base.errors import IsthmusError, UsageError, did_you_mean, listing
from isthmus.base.quantities import Duration, Rate
from isthmus.grid import grid as grids
from isthmus.place.placement import Part, place
from isthmus.profile import placing
from isthmus.profile.model import Link, Profile
from isthmus.tune import store

# The usual figures for a link without measurements (docs/collectives.md).
USUAL_RTT, USUAL_RATE = 10e-3, 125e6
# For processes that share memory.
_MEMORY_RTT, _MEMORY_RATE = 4e-6, 2e9


@dataclass(frozen=True)
class Wire:
    """Between two clusters: seconds for both ways, bytes a second each way, and which of them are
    assumed."""

    rtt: float
    rate: float
    rtt_assumed: bool = False
    rate_assumed: bool = False

    @classmethod
    def of(cls, rtt: float | None, rate: float | None) -> Wire:
        """Usual figures replace unknown ones."""
        return cls(rtt or USUAL_RTT, rate or USUAL_RATE, not rtt, not rate)

    @property
    def assumed(self) -> bool:
        return self.rtt_assumed or self.rate_assumed


@dataclass(frozen=True)
class Scenario:
    names: Sequence[str]
    home: Mapping[int, int]  # world rank -> cluster
    wires: Mapping[tuple[int, int], Wire]

    def wire(self, a: int, b: int) -> Wire:
        """Clusters that are not neighbours have the longest known wire."""
        found = self.wires.get((min(a, b), max(a, b)))
        if found is None and self.wires:
            found = max(self.wires.values(), key=lambda wire: wire.rtt)
        return found or Wire.of(None, None)

    def used(self) -> dict[tuple[int, int], Wire]:
        """The wires between clusters that have ranks."""
        return {(a, b): self.wire(a, b) for a, b in combinations(sorted({*self.home.values()}), 2)}

    def is_like(self, profile: Profile) -> bool:
        """Whether the ranks are together as they were."""
        return same_places(self.home, profile.cluster_of())


def same_places(one: Mapping[int, int], other: Mapping[int, int]) -> bool:
    pairs = {(one[rank], other.get(rank)) for rank in one}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def as_it_was(profile: Profile) -> Scenario:
    """The links over which the program ran."""
    wires = {
        link.between: Wire(_MEMORY_RTT, _MEMORY_RATE) if link.memory else _wire(link)
        for link in profile.grid.links
    }
    names = [cluster.name for cluster in profile.grid.clusters]
    return Scenario(names, profile.cluster_of(), wires)


def usual(profile: Profile) -> Scenario:
    """The same with wide-area links, if clusters shared a host's memory: such a run is a trial."""
    was = as_it_was(profile)
    tried = {link.between for link in profile.grid.links if link.memory}
    wires = {
        pair: Wire.of(None, None) if pair in tried else wire for pair, wire in was.wires.items()
    }
    return Scenario(was.names, was.home, wires)


def _wire(link: Link) -> Wire:
    """A measured rate never exceeds what the program sent, so the grid file's rate is better."""
    rtt = link.measured.rtt or link.rtt
    rate = link.rate
    if not rate and link.measured.rate and link.measured.rate > USUAL_RATE:
        rate = link.measured.rate
    return Wire.of(rtt, rate)


def of_grid(profile: Profile, path: Path, places: str | None = None) -> Scenario:
    """The ranks of the profile in another grid file, placed as `isthmus run -n` would, or as
    `places` says. Its links have the figures of `isthmus tune`, or else those of the file."""
    grid = grids.load(path)
    names = list(grid.cluster)
    wires = _wires_of(grid, names, path)
    if places is not None:
        found = placing.of_text(places, profile.size)
        found.check(grid.cluster)
        homes = [names.index(name) for name in found.clusters]
        return Scenario(names, dict(enumerate(homes)), wires)
    try:
        blocks = place(grid.cluster, [Part(["program"], profile.size)])
    except IsthmusError:
        raise UsageError(
            f"--grid {path}: its clusters have no room for the {profile.size} ranks of the profile",
            "Raise 'slots' of its clusters, or place the ranks by --place.",
        ) from None
    home = {
        rank: names.index(block.cluster)
        for block in blocks
        for rank in range(block.first, block.first + block.size)
    }
    return Scenario(names, home, wires)


def _wires_of(grid: grids.Grid, names: Sequence[str], path: Path) -> dict[tuple[int, int], Wire]:
    known: dict[tuple[int, int], tuple[float, float]] = {}  # 0: not known
    for link in grid.link:
        if all(name in names for name in link.between):
            a, b = sorted(names.index(name) for name in link.between)
            rtt, rate = link.rtt, link.rate
            known[a, b] = rtt.seconds if rtt else 0.0, rate.bytes if rate else 0.0
    for pair in store.read(path).pairs:
        if all(name in names for name in pair.between):
            a, b = sorted(names.index(name) for name in pair.between)
            said = known.get((a, b), (0.0, 0.0))
            known[a, b] = 2 * pair.latency or said[0], pair.rate or said[1]
    return {ends: Wire.of(*figures) for ends, figures in known.items()}


def with_places(profile: Profile, scenario: Scenario, text: str) -> Scenario:
    """`text` is "east=0-3,west=4-7". Clusters that the profile lacks are new ones, over links
    without known figures."""
    found = placing.of_text(text, profile.size)
    names = list(scenario.names)
    new = [name for name in dict.fromkeys(found.clusters) if name not in names]
    for name in new:
        if near := did_you_mean(name, names):
            raise UsageError(
                f"--place {text}: the profile has no cluster '{name}'{near}",
                f"It has {listing(names)}; a new one needs a name of its own.",
            )
    names += new
    wires = dict(scenario.wires)
    for pair in combinations(range(len(names)), 2):
        if names[pair[1]] in new:
            wires[pair] = Wire.of(None, None)
    home = {rank: names.index(name) for rank, name in enumerate(found.clusters)}
    return Scenario(names, home, wires)


def with_link(scenario: Scenario, text: str) -> Scenario:
    """`text` is "rtt=20ms,rate=1Gbit/s", or one of the two, for every pair of clusters."""
    said: dict[str, float] = {}
    for entry in text.split(","):
        key, _, value = (word.strip() for word in entry.partition("="))
        try:
            if key in said:
                raise _wrong_link(text, f"'{key}' is given twice")
            if key == "rtt":
                said[key] = Duration.parse(value).seconds
            elif key == "rate":
                said[key] = Rate.parse(value).bytes
            elif key:
                raise _wrong_link(text, f"a link has no '{key}'{did_you_mean(key, _LINK_HAS)}")
            else:
                raise _wrong_link(text, "a figure has no name" if value else "it is empty")
        except ValueError as error:
            raise _wrong_link(text, f"{key} {error}") from None
    rtt, rate = said.get("rtt"), said.get("rate")
    clusters = range(len(scenario.names))
    wires = {}
    for pair in ((a, b) for a in clusters for b in clusters if a < b):
        old = scenario.wire(*pair)
        wires[pair] = Wire(
            old.rtt if rtt is None else rtt,
            old.rate if rate is None else rate,
            old.rtt_assumed and rtt is None,
            old.rate_assumed and rate is None,
        )
    return Scenario(scenario.names, scenario.home, wires)


_LINK_HAS = ("rtt", "rate")


def _wrong_link(text: str, what: str) -> UsageError:
    return UsageError(f"--link '{text}': {what}", "Write it as 'rtt=20ms,rate=1Gbit/s'.")
