"""The tasks of rma.c."""

from isthmus_lab.bench.timed import TimedTask, parse_task

MIB = 1 << 20
SMALL, LARGE = 8, 64 * MIB
PUTS = 10_000  # in one round of "puts"
OPERATIONS = ("message", "put", "get", "accumulate", "fetch", "lock", "puts")
LARGE_ONES = ("message", "put", "get", "accumulate")


class RmaTask(TimedTask):
    """A task of one-sided communication."""

    @property
    def moved(self) -> int:
        return self.bytes * (PUTS if self.operation == "puts" else 1)


def parse(text: str) -> RmaTask:
    """The inverse of `RmaTask.text`. ValueError if the text is malformed."""
    return parse_task(text, RmaTask, OPERATIONS)


def tasks(rounds: int, *, inside: bool) -> list[RmaTask]:
    """All operations: small ones `rounds` times, those of 64 MiB rarely."""
    small = [RmaTask(name, SMALL, rounds, inside) for name in OPERATIONS if name != "puts"]
    few = max(1, rounds // 20)
    small.append(RmaTask("puts", SMALL, few, inside))
    return small + [RmaTask(name, LARGE, few, inside) for name in LARGE_ONES]
