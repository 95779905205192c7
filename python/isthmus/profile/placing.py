"""Ranks in clusters, as `isthmus profile show --place` takes them: "east=0-3,6,west=4-5,7"."""

from isthmus.base import ranklist
from isthmus.base.errors import UsageError
from isthmus.place.rankmap import RankMap

_FORM = "Write it as 'east=0-3,6,west=4-5,7'."


def of_text(text: str, size: int) -> RankMap:
    """Takes all ranks below `size`. UsageError quotes the text."""
    name = f"--place {text}"
    found: dict[int, str] = {}
    cluster = ""
    for entry in text.replace(" ", "").split(","):
        before, equals, ranks = entry.rpartition("=")
        cluster = before if equals else cluster
        if not cluster or "=" in cluster:
            raise UsageError(f"{name} does not name a cluster for all ranks", _FORM)
        try:
            placed = ranklist.parse(ranks, size, "the profile has")
        except ValueError as error:
            raise UsageError(f"{name}: '{ranks}' {error}", _FORM) from None
        for rank in placed:
            if rank in found:
                raise UsageError(
                    f"{name}: rank {rank} is also in '{found[rank]}'", "Name each rank once."
                )
            found[rank] = cluster
    for rank in range(size):
        if rank not in found:
            raise UsageError(
                f"{name}: rank {rank} has no cluster", f"Place all ranks from 0 to {size - 1}."
            )
    return RankMap(name, tuple(found[rank] for rank in range(size)))
