"""How many ranks clusters get."""

from collections.abc import Sequence

from isthmus.grid import Grid
from isthmus.placement import Part, place


def given(grid: Grid, size: int) -> list[int]:
    """The cluster of each rank, by index, as a run without a map has them."""
    names = list(grid.cluster)
    blocks = place(grid.cluster, [Part(["program"], size)])
    return [names.index(block.cluster) for block in blocks for _ in range(block.size)]


def capacity(grid: Grid, part: Sequence[int]) -> list[int]:
    """The slots of clusters; of those without, the ranks that they have in `part`."""
    return [
        max(spec.slots or 0, part.count(cluster)) if spec.slots else list(part).count(cluster)
        for cluster, spec in enumerate(grid.cluster.values())
    ]
