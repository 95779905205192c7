"""Where ranks would be, and over what they would speak: the grid of the profile, or another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus import grid as grids
from isthmus.errors import IsthmusError, UsageError, did_you_mean
from isthmus.placement import Part, place
from isthmus.profile.model import Link, Profile
from isthmus.quantities import Duration, Rate
from isthmus.tune import store

# What the choice of collectives takes a link for that nobody has measured (docs/collectives.md).
USUAL_RTT, USUAL_RATE = 10e-3, 125e6
# Of processes that share memory.
_MEMORY_RTT, _MEMORY_RATE = 4e-6, 2e9


@dataclass(frozen=True)
class Wire:
    """Between two clusters: seconds for both ways, bytes a second each way. `assumed`: of a
    figure nobody has said anything."""

    rtt: float
    rate: float
    assumed: bool = False


@dataclass(frozen=True)
class Scenario:
    names: Sequence[str]
    home: Mapping[int, int]  # world rank -> cluster
    wires: Mapping[tuple[int, int], Wire]

    def wire(self, a: int, b: int) -> Wire:
        """Clusters that are not next to each other have the longest way that is known."""
        found = self.wires.get((min(a, b), max(a, b)))
        if found is None and self.wires:
            found = max(self.wires.values(), key=lambda wire: wire.rtt)
        return found or Wire(USUAL_RTT, USUAL_RATE, assumed=True)

    def is_like(self, profile: Profile) -> bool:
        """Ranks are together as they were."""
        return same_places(self.home, profile.cluster_of())


def same_places(one: Mapping[int, int], other: Mapping[int, int]) -> bool:
    pairs = {(one[rank], other.get(rank)) for rank in one}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def as_it_was(profile: Profile) -> Scenario:
    """The links that the program ran over."""
    wires = {
        link.between: Wire(_MEMORY_RTT, _MEMORY_RATE) if link.memory else _wire(link)
        for link in profile.grid.links
    }
    names = [cluster.name for cluster in profile.grid.clusters]
    return Scenario(names, profile.cluster_of(), wires)


def usual(profile: Profile) -> Scenario:
    """The same with wide-area links, where clusters shared a host's memory: that is for trying."""
    was = as_it_was(profile)
    tried = {link.between for link in profile.grid.links if link.memory}
    wires = {
        pair: Wire(USUAL_RTT, USUAL_RATE, assumed=True) if pair in tried else wire
        for pair, wire in was.wires.items()
    }
    return Scenario(was.names, was.home, wires)


def _wire(link: Link) -> Wire:
    """What was measured is as much as the program sent, at most, so the grid file's rate is the
    better one."""
    rtt = link.measured.rtt or link.rtt
    rate = link.rate
    if not rate and link.measured.rate and link.measured.rate > USUAL_RATE:
        rate = link.measured.rate
    return Wire(rtt or USUAL_RTT, rate or USUAL_RATE, not rtt or not rate)


def of_grid(profile: Profile, path: Path) -> Scenario:
    """The ranks of the profile placed by another grid file, as `isthmus run -n` would. Its links
    are as `isthmus tune` measured them, or else as the file says."""
    grid = grids.load(path)
    try:
        blocks = place(grid.cluster, [Part(["program"], profile.size)])
    except IsthmusError:
        raise UsageError(
            f"--grid {path}: its clusters do not take the profile's {profile.size} ranks",
            "Raise 'slots' of its clusters, or say with --place which ranks are where.",
        ) from None
    names = [block.cluster for block in blocks]
    home = {
        rank: index
        for index, block in enumerate(blocks)
        for rank in range(block.first, block.first + block.size)
    }
    known: dict[tuple[int, int], tuple[float, float]] = {}  # 0: nobody has said
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
    wires = {
        ends: Wire(rtt or USUAL_RTT, rate or USUAL_RATE, not rtt or not rate)
        for ends, (rtt, rate) in known.items()
    }
    return Scenario(names, home, wires)


def with_places(profile: Profile, scenario: Scenario, text: str) -> Scenario:
    """`text` is "east=0-3,west=4-7"."""
    names, home = list(scenario.names), {}
    new: list[str] = []
    for entry in filter(None, text.replace(" ", "").split(",")):
        name, equals, ranks = entry.partition("=")
        if equals:
            new.append(name)
        elif not new:
            raise _wrong_places(text)
        home.update(dict.fromkeys(_ranks(ranks if equals else name, text), new[-1]))
    known = [name for name in dict.fromkeys(new) if name in names]
    order = names if len(known) == len(dict.fromkeys(new)) else list(dict.fromkeys(new))
    if absent := [rank for rank in range(profile.size) if rank not in home]:
        raise UsageError(
            f"--place {text}: rank {absent[0]} has no place",
            f"Place all ranks from 0 to {profile.size - 1}.",
        )
    if beyond := [rank for rank in home if rank >= profile.size]:
        raise UsageError(
            f"--place {text}: the profile has no rank {min(beyond)}",
            f"Its ranks are those from 0 to {profile.size - 1}.",
        )
    wires = scenario.wires if order is names else {}
    return Scenario(order, {rank: order.index(name) for rank, name in home.items()}, wires)


def _ranks(text: str, whole: str) -> range:
    first, _, last = text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise _wrong_places(whole)
    return range(int(first), int(last or first) + 1)


def _wrong_places(text: str) -> UsageError:
    return UsageError(
        f"--place {text} does not say which ranks are where", "Write it as 'east=0-3,west=4-7'."
    )


def with_link(scenario: Scenario, text: str) -> Scenario:
    """`text` is "rtt=20ms,rate=1Gbit/s", or one of them, of every pair of clusters."""
    rtt: float | None = None
    rate: float | None = None
    for entry in text.split(","):
        key, _, value = entry.strip().partition("=")
        try:
            if key == "rtt":
                rtt = Duration.parse(value.strip()).seconds
            elif key == "rate":
                rate = Rate.parse(value.strip()).bytes
            else:
                known = did_you_mean(key, ["rtt", "rate"])
                raise UsageError(
                    f"--link {text}: a link has no '{key}'{known}",
                    "Write it as 'rtt=20ms,rate=1Gbit/s'.",
                )
        except ValueError as error:
            raise UsageError(
                f"--link {text}: {key} {error}", "Write it as 'rtt=20ms,rate=1Gbit/s'."
            ) from None
    clusters = range(len(scenario.names))
    wires = {}
    for pair in ((a, b) for a in clusters for b in clusters if a < b):
        old = scenario.wire(*pair)
        wires[pair] = Wire(
            old.rtt if rtt is None else rtt,
            old.rate if rate is None else rate,
            old.assumed and (rtt is None or rate is None),
        )
    return Scenario(scenario.names, scenario.home, wires)
