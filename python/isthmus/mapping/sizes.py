"""The number of ranks of each cluster."""

from collections.abc import Sequence

from isthmus.base.errors import UsageError, listing
from isthmus.grid.grid import Grid
from isthmus.place.placement import Part, place, without_slots


def given(grid: Grid, size: int) -> list[int]:
    """The cluster of each rank, by index, as in a run without a map. UsageError if they do not
    fit."""
    names = list(grid.cluster)
    if without := without_slots(grid.cluster):
        raise UsageError(
            f"some clusters of the grid have 'slots' but {listing(without)} have none, so "
            f"{size} ranks cannot be placed",
            "Give 'slots' to every cluster or to none.",
        )
    slots = [spec.slots for spec in grid.cluster.values() if spec.slots is not None]
    if slots and (total := sum(slots)) < size:
        raise UsageError(
            f"the grid has {total} slots for {size} ranks",
            "Raise 'slots' of the clusters in the grid file.",
        )
    blocks = place(grid.cluster, [Part(["program"], size)])
    return [names.index(block.cluster) for block in blocks for _ in range(block.size)]


def capacity(grid: Grid, part: Sequence[int]) -> list[int]:
    """The slots of clusters; for those without, the number of their ranks in `part`."""
    return [
        max(spec.slots or 0, part.count(cluster)) if spec.slots else list(part).count(cluster)
        for cluster, spec in enumerate(grid.cluster.values())
    ]
