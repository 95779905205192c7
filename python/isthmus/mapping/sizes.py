"""How many ranks clusters get."""

from collections.abc import Sequence

from isthmus.errors import UsageError
from isthmus.grid import Grid
from isthmus.placement import Part, place


def given(grid: Grid, size: int) -> list[int]:
    """The cluster of each rank, by index, as a run without a map has them; but the fastest clusters
    are filled first, and where there are no slots, clusters get shares by their speed."""
    speeds = [spec.speed for spec in grid.cluster.values()]
    slots = [spec.slots for spec in grid.cluster.values()]
    if len(set(speeds)) == 1 or any((s is None) != (slots[0] is None) for s in slots):
        names = list(grid.cluster)
        blocks = place(grid.cluster, [Part(["program"], size)])
        return [names.index(block.cluster) for block in blocks for _ in range(block.size)]
    known = [s for s in slots if s is not None]
    if known and sum(known) < size:
        raise UsageError(
            f"the grid has {sum(known)} slots, and there are {size} ranks",
            "Raise 'slots' of the clusters in the grid file.",
        )
    counts = _filled(known, speeds, size) if known else _shared(speeds, size)
    return [cluster for cluster, count in enumerate(counts) for _ in range(count)]


def capacity(grid: Grid, part: Sequence[int]) -> list[int]:
    """The slots of clusters; of those without, the ranks that they have in `part`."""
    return [
        max(spec.slots or 0, part.count(cluster)) if spec.slots else list(part).count(cluster)
        for cluster, spec in enumerate(grid.cluster.values())
    ]


def _filled(slots: Sequence[int], speeds: Sequence[float], size: int) -> list[int]:
    counts = [0] * len(slots)
    for cluster in sorted(range(len(slots)), key=lambda c: -speeds[c]):
        counts[cluster] = min(slots[cluster], size - sum(counts))
    return counts


def _shared(speeds: Sequence[float], size: int) -> list[int]:
    """By largest remainders."""
    exact = [size * speed / sum(speeds) for speed in speeds]
    counts = [int(share) for share in exact]
    rest = sorted(range(len(speeds)), key=lambda c: (counts[c] - exact[c], c))
    for cluster in rest[: size - sum(counts)]:
        counts[cluster] += 1
    return counts
