"""The tasks of io.c."""

from collections.abc import Sequence

from isthmus_lab.bench.timed import TimedTask, parse_task

MIB = 1 << 20
TRIP, LARGE = 8, 64 * MIB
RANDOM, READ, UNDER_WAY = 8 * MIB, 4096, 64  # bytes in all, bytes of one read; reads at a time
COLLECTIVE = ("write-all", "read-all", "write-strided", "read-strided")
SEQUENTIAL = ("write", "read")
FIGURES = (*COLLECTIVE, *SEQUENTIAL, "random")
OPERATIONS = ("message", *FIGURES)


class IoTask(TimedTask):
    """A task on files."""


def parse(text: str) -> IoTask:
    """The inverse of `IoTask.text`. ValueError if the text is malformed."""
    return parse_task(text, IoTask, OPERATIONS)


def tasks(
    rounds: int, sizes: Sequence[int], *, inside: bool, figures: Sequence[str] = ()
) -> list[IoTask]:
    """Messages and accesses of these sizes, and random reads, which need a round trip, too.
    `figures`: only these, beside messages."""
    found = [
        IoTask(name, size, rounds, inside)
        for size in sizes
        for name in ("message", *COLLECTIVE, *SEQUENTIAL)
        if not (inside if name == "message" else figures and name not in figures)
    ]
    if figures and "random" not in figures:
        return found
    if not inside:
        found.append(IoTask("message", TRIP, 10 * rounds))
    return [*found, IoTask("random", RANDOM, rounds, inside)]
