"""The text of ISTHMUS_NETWORK (docs/collectives.md) about network paths between clusters: figures
of single pairs, and those that a grid file gives."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from isthmus.base.errors import UsageError, did_you_mean
from isthmus.grid import routes
from isthmus.grid.grid import Grid, LinkSpec

NEAR = 0.15  # smaller differences do not count: `isthmus tune` is no more exact
# A limit on the characters of entries about pairs. Linux allows some 128 KiB for one variable, and
# every process keeps it (2026-11: 16 KiB hold some 500 pairs, all of 32 clusters).
MOST = 16 << 10


@dataclass(frozen=True)
class Way:
    """Seconds one way and bytes a second; 0: not known."""

    between: tuple[str, str]
    latency: float = 0
    rate: float = 0


@dataclass(frozen=True)
class Stretch:
    """A stretch that the paths of several pairs share; bytes a second of all of them, each way."""

    between: Sequence[tuple[str, str]]
    rate: float


def worst(ways: Sequence[Way]) -> list[str]:
    """Entries for all pairs that have no entries of their own."""
    latency = time(max((way.latency for way in ways), default=0))
    slowest = rate(min((way.rate for way in ways if way.rate > 0), default=0))
    return [
        *([f"wan-latency={latency}"] if latency else []),
        *([f"wan-rate={slowest}"] if slowest else []),
    ]


def pairs(ways: Sequence[Way]) -> list[str]:
    """Entries for pairs that are better than the worst, the best of them first, within MOST. A pair
    that is left out counts as worse than it is, never as better."""
    longest = max((way.latency for way in ways), default=0)
    slowest = min((way.rate for way in ways if way.rate > 0), default=0)

    def gain(way: Way) -> float:
        nearer = longest / way.latency if way.latency > 0 else 1
        wider = way.rate / slowest if way.rate > 0 and slowest > 0 else 1
        return max(nearer, wider)

    entries = [
        f"pair={'/'.join(way.between)}:{time(way.latency)}:{rate(way.rate)}".rstrip(":")
        for way in sorted(ways, key=gain, reverse=True)
        if gain(way) > 1 + NEAR
    ]
    return _bounded(entries)


def shared(stretches: Iterable[Stretch]) -> list[str]:
    """Entries for stretches that pairs share, up to MOST. A stretch that is left out is unknown."""
    return _bounded(_shared(one) for one in stretches)


def of_links(grid: Grid, without: Collection[str] = ()) -> str:
    """Figures from the links of a grid file: the path between each pair of clusters, and the
    stretches that paths share. `without`: "wan-latency", "wan-rate", for which better figures are
    known."""
    stretches = [Stretch([(a, b) for a, b in one.between], one.rate.bytes) for one in grid.shared]
    if not any(link.rate or link.rtt for link in grid.link):
        return ",".join(shared(stretches))
    names = list(grid.cluster)
    linked = routes.neighbours(names, grid.link)
    ahead = [routes.next_clusters(len(names), linked, start) for start in range(len(names))]
    ways: list[Way] = []
    users: dict[routes.Pair, list[tuple[str, str]]] = {}
    for a, b in combinations(range(len(names)), 2):
        steps = _steps(ahead, a, b)
        specs = [linked[step] for step in steps]
        if not specs:
            continue
        pair = (names[a], names[b])
        latency = 0 if "wan-latency" in without else _latency(specs)
        ways.append(Way(pair, latency, 0 if "wan-rate" in without else _rate(specs)))
        for step in steps:
            users.setdefault(step, []).append(pair)
    entries = [*worst(ways), *pairs(ways)]
    by_way = [
        Stretch(of_link, _rate([linked[link]]))
        for link, of_link in users.items()
        if len(of_link) > 1 and _rate([linked[link]]) > 0
    ]
    stretches += sorted(by_way, key=lambda stretch: len(_shared(stretch)))
    return ",".join([*entries, *shared(stretches)])


def said(text: str) -> set[str]:
    """The keys of a text."""
    return {entry.partition("=")[0].strip() for entry in text.split(",") if entry.strip()}


def check(text: str, grid: Grid) -> None:
    """UsageError if the user's ISTHMUS_NETWORK names a cluster that is not in the grid: ranks
    ignore entries that do not concern them."""
    for entry in text.split(","):
        key, _, value = entry.partition("=")
        if key.strip() not in ("pair", "shared"):
            continue
        for pair in value.partition(":")[0].split("+"):
            for name in (part.strip() for part in pair.split("/")):
                if name and name not in grid.cluster:
                    near = did_you_mean(name, grid.cluster)
                    known = ", ".join(list(grid.cluster)[:8])
                    raise UsageError(
                        f"ISTHMUS_NETWORK names a cluster '{name}' that is not in the grid{near}",
                        f"Its clusters: {known}{', ...' if len(grid.cluster) > 8 else ''}",
                    )


def time(seconds: float) -> str:
    return f"{seconds * 1e6:.3f}us" if seconds > 0 else ""


def rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second * 8 / 1e6:.1f}M" if bytes_per_second > 0 else ""


def _shared(stretch: Stretch) -> str:
    named = "+".join("/".join(pair) for pair in stretch.between)
    return f"shared={named}:{rate(stretch.rate)}"


def _steps(ahead: Sequence[Mapping[int, int]], start: int, goal: int) -> list[routes.Pair]:
    """The links of a shortest path; `ahead[A][B]` is the next cluster on the way from A to B."""
    steps: list[routes.Pair] = []
    while start != goal and goal in ahead[start]:
        follower = ahead[start][goal]
        steps.append((min(start, follower), max(start, follower)))
        start = follower
    return steps


def _latency(links: Sequence[Sequence[LinkSpec]]) -> float:
    """The latency of a chain of steps, each with one or several parallel links. 0: not known."""
    each = [max((x.rtt.seconds / 2 for x in link if x.rtt), default=0.0) for link in links]
    return sum(each) if all(each) else max(each)


def _rate(links: Sequence[Sequence[LinkSpec]]) -> float:
    known = [sum(x.rate.bytes for x in link if x.rate) for link in links]
    return min((bytes_ for bytes_ in known if bytes_ > 0), default=0)


def _bounded(entries: Iterable[str]) -> list[str]:
    kept: list[str] = []
    used = 0
    for entry in entries:
        used += len(entry) + 1
        if used > MOST:
            break
        kept.append(entry)
    return kept
