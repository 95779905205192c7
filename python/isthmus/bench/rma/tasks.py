"""What rma.c is told to do."""

import re
from dataclasses import dataclass

MIB = 1 << 20
SMALL, LARGE = 8, 64 * MIB
PUTS = 10_000  # of one round of "puts"
OPERATIONS = ("message", "put", "get", "accumulate", "fetch", "lock", "puts")
LARGE_ONES = ("message", "put", "get", "accumulate")

_TEXT = re.compile(r"(inside-)?([a-z]+):(\d+):(\d+)")


@dataclass(frozen=True)
class RmaTask:
    """`inside`: between two ranks of one cluster. `text` is what the program reads; `limit` bounds,
    in seconds, how long it may take."""

    operation: str
    bytes: int
    rounds: int
    inside: bool = False

    @property
    def text(self) -> str:
        return f"{'inside-' * self.inside}{self.operation}:{self.bytes}:{self.rounds}"

    @property
    def limit(self) -> float:
        """At 2 MB/s and a second for each round; anything slower has got stuck."""
        moved = self.bytes * (PUTS if self.operation == "puts" else 1)
        return 60 + (self.rounds + 2) * (1 + moved / 2e6)


def parse(text: str) -> RmaTask:
    """The inverse of `RmaTask.text`. ValueError for what is none."""
    found = _TEXT.fullmatch(text)
    if not found or found[2] not in OPERATIONS:
        raise ValueError(f"no task: {text}")
    return RmaTask(found[2], int(found[3]), int(found[4]), found[1] is not None)


def tasks(rounds: int, *, inside: bool) -> list[RmaTask]:
    """All operations: small ones so often, those of 64 MiB rarely."""
    small = [RmaTask(name, SMALL, rounds, inside) for name in OPERATIONS if name != "puts"]
    few = max(1, rounds // 20)
    small.append(RmaTask("puts", SMALL, few, inside))
    return small + [RmaTask(name, LARGE, few, inside) for name in LARGE_ONES]
