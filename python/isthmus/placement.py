"""Which ranks go to which cluster.

The rule: parts are placed one after the other. A part with --on goes to that cluster whole. A part
without fills the clusters in the order of the grid file: where every cluster has `slots`, each
takes what it has left; where none has, the ranks are shared out equally, the first clusters taking
one more where it does not divide. The clusters of the world stand in the order in which they first
got a rank, and each holds one block of world ranks, its parts in the order of the command line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from isthmus.errors import UsageError, did_you_mean, listing
from isthmus.grid import ClusterSpec


@dataclass(frozen=True)
class Part:
    """What stands between two `:` of the command line. `n` None: all slots, or 1 in all."""

    argv: list[str]
    n: int | None = None
    on: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    wdir: str | None = None
    mpi: str | None = None  # in place of the clusters' own
    number: int = 0  # of the command line: what MPI_APPNUM says


@dataclass
class Block:
    """The ranks of one cluster: `first` and the following, in `parts` of (n, part)."""

    cluster: str
    first: int = 0
    parts: list[tuple[int, Part]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(n for n, _ in self.parts)

    @property
    def wdir(self) -> str | None:
        return next((part.wdir for _, part in self.parts if part.wdir is not None), None)


def place(clusters: Mapping[str, ClusterSpec], parts: Sequence[Part]) -> list[Block]:
    """The blocks of the world in order. UsageError when the ranks do not fit."""
    blocks: dict[str, Block] = {}
    for part in parts:
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
                "Give the same --wdir to all parts that have ranks on one cluster.",
            )
    return list(blocks.values())


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
                f"{clusters[part.on].slots}, and '{part.argv[0]}' asks for {part.n or 'all'}",
                "Lower -n, or raise 'slots' of the cluster in the grid file.",
            )
        return [(part.on, n)]
    if free and len(free) < len(clusters):
        without = [name for name in clusters if name not in free]
        raise UsageError(
            f"some clusters of the grid have 'slots' and some ({listing(without)}) have not, so "
            f"'{part.argv[0]}' cannot be placed",
            "Give 'slots' to every cluster or to none, or say where with --on CLUSTER.",
        )
    if free:
        return _fill(free, part)
    n = part.n if part.n is not None else len(clusters)
    share, rest = divmod(n, len(clusters))
    return [(name, share + (i < rest)) for i, name in enumerate(clusters)]


def _fill(free: Mapping[str, int], part: Part) -> list[tuple[str, int]]:
    total = sum(max(left, 0) for left in free.values())
    wanted = part.n if part.n is not None else total
    if wanted > total or wanted == 0:
        raise UsageError(
            f"the grid has {total} slots left, and '{part.argv[0]}' asks for {wanted or 'all'}",
            "Lower -n, or raise 'slots' of the clusters in the grid file.",
        )
    shares = []
    for name, left in free.items():
        take = min(max(left, 0), wanted)
        shares.append((name, take))
        wanted -= take
    return shares
