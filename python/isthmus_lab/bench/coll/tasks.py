"""The tasks of coll.c."""

import re
from dataclasses import dataclass

from isthmus_lab.bench import report

KIB, MIB = 1 << 10, 1 << 20
SUMS = ("reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan")
MESSAGE = ("bcast", "reduce", "allreduce", "scan", "exscan")  # bytes count the message
BLOCKS = (  # bytes count each rank's block
    "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
    "reduce_scatter_block", "reduce_scatter",
)  # fmt: skip
COLLECTIVES = ("barrier", *MESSAGE, *BLOCKS)
SIZES = (8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 3_200_000, 8 * MIB, 32_000_000)
BLOCK_SIZES = (8, 64, 512, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 2_000_000)

_SLOWEST = 500e3  # bytes per second; anything slower is stuck
_TEXT = re.compile(r"([a-z_]+)(@interleaved)?:(\d+):(\d+)(?::(\d+))?")


@dataclass(frozen=True)
class CollTask:
    """`collective` begins with "i" for the non-blocking form. "interleaved" takes the clusters'
    ranks in turn. The program reads `text`; a task may take `limit` seconds."""

    collective: str
    bytes: int
    repetitions: int
    interleaved: bool = False
    tests: int | None = None

    @property
    def text(self) -> str:
        order = "@interleaved" if self.interleaved else ""
        tests = "" if self.tests is None else f":{self.tests}"
        return f"{self.collective}{order}:{self.bytes}:{self.repetitions}{tests}"

    @property
    def blocking(self) -> str:
        """The collective's name without the "i"."""
        return self.collective if self.collective in COLLECTIVES else self.collective[1:]

    @property
    def limit(self) -> float:
        moved = self.bytes * (16 if self.blocking in BLOCKS else 1)
        times = (self.repetitions + 2) * (3 if self.blocking != self.collective else 1)
        return 60 + times * (1 + moved / _SLOWEST)


def parse(text: str) -> CollTask:
    """The inverse of `CollTask.text`. ValueError if the text is malformed."""
    found = _TEXT.fullmatch(text)
    if not found:
        raise ValueError(f"not a task: {text}")
    task = CollTask(
        found[1],
        int(found[3]),
        int(found[4]),
        found[2] is not None,
        None if found[5] is None else int(found[5]),
    )
    if task.blocking not in COLLECTIVES:
        raise ValueError(f"not a collective: {task.collective}")
    return task


def size_text(size: int) -> str:
    """Also for decimal sizes: "3.2 MB"."""
    if size and size % 100_000 == 0:
        return f"{size / 1e6:g} MB"
    return report.size_text(size)


def kind_of(collective: str) -> str:
    """Its name in ISTHMUS_COLL: forms with a count for each rank have no name of their own."""
    return {
        "gatherv": "gather",
        "scatterv": "scatter",
        "allgatherv": "allgather",
        "alltoallv": "alltoall",
        "reduce_scatter_block": "reduce_scatter",
    }.get(collective, collective)


def sizes_of(collective: str) -> tuple[int, ...]:
    """All sizes that are measured."""
    if collective == "barrier":
        return (0,)
    return BLOCK_SIZES if collective in BLOCKS else SIZES
