"""Which ranks go to which cluster.

The rule: parts are placed one after the other. A part with --on goes to that cluster as a whole. A
part without --on fills the clusters. If every cluster has `slots`, each takes what it has left, the
fastest by `speed` first, else in the order of the grid file. If no cluster has slots, the ranks are
shared out by `speed`; the first clusters take one more if that does not divide. The clusters of the
world stand in the order in which they first got a rank. Each holds one block of world ranks, with
its parts in the order of the command line.

A rank map gives the cluster of each world rank instead. Then parts have ranks in the order of the
command line. Clusters are in the order of their first ranks, and native ranks ascend as world ranks
do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from isthmus.base import ranklist
from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.grid.grid import ClusterSpec
from isthmus.place.rankmap import RankMap

# All ranks find their number in one environment variable, which Linux limits to 128 KiB.
_MOST_TEXT = 96 << 10


@dataclass(frozen=True)
class Part:
    """A part of the command line, between two `:`. `n` None: all slots, else one for each
    cluster."""

    argv: list[str]
    n: int | None = None
    on: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    wdir: str | None = None
    mpi: str | None = None  # overrides the clusters' own
    number: int = 0  # its place in the command line: the value of MPI_APPNUM


@dataclass
class Block:
    """The processes of one cluster, from `first` on, in `parts` of (n, part). These numbers are
    their world ranks as well, unless `ranks` has others."""

    cluster: str
    first: int = 0
    parts: list[tuple[int, Part]] = field(default_factory=list)
    ranks: Sequence[int] | None = None

    @property
    def size(self) -> int:
        return sum(n for n, _ in self.parts)

    @property
    def world_ranks(self) -> Sequence[int]:
        return range(self.first, self.first + self.size) if self.ranks is None else self.ranks

    @property
    def wdir(self) -> str | None:
        return next((part.wdir for _, part in self.parts if part.wdir is not None), None)


def place(
    clusters: Mapping[str, ClusterSpec], parts: Sequence[Part], ranks: RankMap | None = None
) -> list[Block]:
    """The blocks of the world in order. UsageError if the ranks do not fit."""
    blocks: dict[str, Block] = {}
    if ranks is not None:
        blocks = _mapped(clusters, parts, ranks)
    for part in parts if ranks is None else ():
        for cluster, n in _shares(clusters, part, blocks):
            if n:
                blocks.setdefault(cluster, Block(cluster)).parts.append((n, part))
    first = 0
    for block in blocks.values():
        block.first = first
        first += block.size
        directories = {part.wdir for _, part in block.parts}
        if len(directories) > 1:
            raise UsageError(
                f"parts on cluster '{block.cluster}' ask for different working directories",
                "Give the same --wdir to all parts with ranks on one cluster.",
            )
    return list(blocks.values())


def with_room(clusters: Mapping[str, ClusterSpec], parts: Sequence[Part]) -> dict[str, ClusterSpec]:
    """The clusters with as many slots as the parts need: those of --oversubscribe. Parts without
    --on get the slots that they lack in proportion to those of each cluster."""
    slots = {name: spec.slots for name, spec in clusters.items() if spec.slots is not None}
    if len(slots) < len(clusters):
        return dict(clusters)
    needed = {
        name: max(own, sum(part.n or 0 for part in parts if part.on == name))
        for name, own in slots.items()
    }
    free = sum(part.n or 0 for part in parts if part.on is None)
    taken = sum(part.n or 0 for part in parts if part.on in slots)
    lacking = free + taken - sum(needed.values())
    for name, more in _by_speed(slots, max(lacking, 0)):
        needed[name] += more
    return {
        name: spec.model_copy(update={"slots": needed[name]}) for name, spec in clusters.items()
    }


def without_spares(
    clusters: Mapping[str, ClusterSpec], spares: Sequence[str]
) -> dict[str, ClusterSpec]:
    """UsageError if one is unknown, or none is left."""
    for name in spares:
        if name not in clusters:
            near = did_you_mean(name, clusters)
            raise UsageError(
                f"--spare {name}: the grid has no such cluster{near}; it has {listing(clusters)}"
            )
    left = {name: spec for name, spec in clusters.items() if name not in spares}
    if not left:
        raise UsageError(
            f"all clusters of the grid are spare: {listing(spares)}",
            "Leave at least one for the ranks that start the run.",
        )
    return left


def without_slots(clusters: Mapping[str, ClusterSpec]) -> list[str]:
    """Clusters without `slots`, if others have them: then not all ranks can be placed."""
    without = [name for name, spec in clusters.items() if spec.slots is None]
    return without if len(without) < len(clusters) else []


def _mapped(
    clusters: Mapping[str, ClusterSpec], parts: Sequence[Part], ranks: RankMap
) -> dict[str, Block]:
    ranks.check(clusters)
    for part in parts:
        if part.on is not None:
            raise UsageError(
                f"--on {part.on}: {ranks.name} already gives the cluster of each rank",
                "Leave out --on.",
            )
    of_rank = [part for part, n in _counts(parts, ranks) for _ in range(n)]
    blocks: dict[str, Block] = {}
    for cluster, own in ranks.ranks().items():
        runs = [list(run) for _, run in groupby(own, key=lambda rank: id(of_rank[rank]))]
        parts_here = [(len(run), of_rank[run[0]]) for run in runs]
        blocks[cluster] = Block(cluster, parts=parts_here, ranks=tuple(own))
    order = [rank for block in blocks.values() for rank in block.world_ranks]
    if order == list(range(ranks.size)):  # as without a map
        for block in blocks.values():
            block.ranks = None
    elif sum(len(ranklist.text(block.world_ranks)) for block in blocks.values()) > _MOST_TEXT:
        raise UsageError(
            f"{ranks.name}: the map is too long for the environment of the ranks",
            "Put more neighbouring ranks into one cluster.",
        )
    return blocks


def _counts(parts: Sequence[Part], ranks: RankMap) -> list[tuple[Part, int]]:
    """The number of ranks of each part; all together are those of the map."""
    given = sum(part.n for part in parts if part.n is not None)
    without = [part for part in parts if part.n is None]
    rest = ranks.size - given
    if len(without) > 1:
        raise UsageError(
            f"'{without[1].argv[0]}' has no -n, nor has '{without[0].argv[0]}'",
            f"Give -n to all parts but one; together they run the {ranks.size} ranks of "
            f"{ranks.name}.",
        )
    if rest < len(without) or (rest and not without):
        asked = f"-n asks for {given}"
        if without and given <= ranks.size:
            asked += f", which leaves none for '{without[0].argv[0]}'"
        raise UsageError(
            f"{ranks.name} has {ranks.size} rank{'s' if ranks.size > 1 else ''}, but {asked}",
            "Leave out -n, or ask for as many ranks as the map has.",
        )
    return [(part, part.n if part.n is not None else rest) for part in parts]


def _shares(
    clusters: Mapping[str, ClusterSpec], part: Part, blocks: Mapping[str, Block]
) -> list[tuple[str, int]]:
    free = {
        name: spec.slots - (blocks[name].size if name in blocks else 0)
        for name, spec in clusters.items()
        if spec.slots is not None
    }
    if part.on is not None:
        if part.on not in clusters:
            near = did_you_mean(part.on, clusters)
            raise UsageError(
                f"--on {part.on}: the grid has no such cluster{near}; it has {listing(clusters)}"
            )
        n = part.n if part.n is not None else max(free.get(part.on, 1), 0)
        if n == 0 or (part.on in free and n > free[part.on]):
            raise UsageError(
                f"cluster '{part.on}' has {max(free[part.on], 0)} slots left of "
                f"{clusters[part.on].slots}, but '{part.argv[0]}' asks for {part.n or 'all'}",
                "Lower -n, or raise 'slots' of the cluster in the grid file.",
            )
        return [(part.on, n)]
    if without := without_slots(clusters):
        raise UsageError(
            f"some clusters of the grid have 'slots' but {listing(without)} have none, so "
            f"'{part.argv[0]}' cannot be placed",
            "Give 'slots' to every cluster or to none, or name the cluster by --on CLUSTER.",
        )
    if free:
        fastest = sorted(free, key=lambda name: -clusters[name].speed)
        return _fill({name: free[name] for name in fastest}, part)
    n = part.n if part.n is not None else len(clusters)
    return _by_speed({name: spec.speed for name, spec in clusters.items()}, n)


def _by_speed(speeds: Mapping[str, float], n: int) -> list[tuple[str, int]]:
    """By largest remainders."""
    all_speeds = sum(speeds.values())
    exact = {name: n * speed / all_speeds for name, speed in speeds.items()}
    counts = {name: int(share) for name, share in exact.items()}
    rest = sorted(speeds, key=lambda name: counts[name] - exact[name])
    for name in rest[: n - sum(counts.values())]:
        counts[name] += 1
    return list(counts.items())


def _fill(free: Mapping[str, int], part: Part) -> list[tuple[str, int]]:
    total = sum(max(left, 0) for left in free.values())
    wanted = part.n if part.n is not None else total
    if wanted > total or wanted == 0:
        raise UsageError(
            f"the grid has {total} slots left, but '{part.argv[0]}' asks for {wanted or 'all'}",
            "Lower -n, or raise 'slots' of the clusters in the grid file.",
        )
    shares = []
    for name, left in free.items():
        take = min(max(left, 0), wanted)
        shares.append((name, take))
        wanted -= take
    return shares
