"""Tasks that a measuring program times round by round, and their samples. The least time counts, as
everywhere here, with medians beside it."""

import re
import statistics
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeVar

from isthmus_lab.measuring.samples import NotMeasuredError, Samples

_TEXT = re.compile(r"(inside-)?([a-z-]+):(\d+):(\d+)")


@dataclass(frozen=True)
class TimedTask:
    """`inside`: between two ranks of one cluster. The program reads `text`; a task may take `limit`
    seconds."""

    operation: str
    bytes: int
    rounds: int
    inside: bool = False

    @property
    def text(self) -> str:
        return f"{'inside-' * self.inside}{self.operation}:{self.bytes}:{self.rounds}"

    @property
    def moved(self) -> int:
        """Bytes of one round."""
        return self.bytes

    @property
    def limit(self) -> float:
        """At 2 MB/s, with a second for each round; anything slower is stuck."""
        return 60 + (self.rounds + 2) * (1 + self.moved / 2e6)


TaskT = TypeVar("TaskT", bound=TimedTask)


def parse_task(text: str, kind: type[TaskT], operations: Collection[str]) -> TaskT:
    """The inverse of `TimedTask.text`. ValueError if the text is malformed."""
    found = _TEXT.fullmatch(text)
    if not found or found[2] not in operations:
        raise ValueError(f"not a task: {text}")
    return kind(found[2], int(found[3]), int(found[4]), found[1] is not None)


@dataclass(frozen=True)
class TimedRun:
    """The result of one task for one contestant in one pass."""

    contestant: str
    round: int
    task: TimedTask
    seconds: tuple[float, ...]
    variant: str = ""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "contestant": self.contestant,
            "pass": self.round,
            "task": self.task.text,
            "seconds": list(self.seconds),
        }
        return {**found, "variant": self.variant} if self.variant else found


def read_run(data: dict[str, Any], task: TimedTask) -> TimedRun:
    """ValueError, KeyError or TypeError if the data is malformed."""
    seconds = tuple(float(value) for value in data["seconds"])
    if not seconds or any(value <= 0 for value in seconds):
        raise ValueError(f"{task.text}: no times, or a time that is not positive")
    return TimedRun(
        str(data.get("contestant", "")),
        int(data.get("pass", 0)),
        task,
        seconds,
        str(data.get("variant", "")),
    )


@dataclass
class TimedResults(Samples[TimedRun]):
    """Times are in seconds."""

    def times(self, contestant: str, operation: str, size: int) -> list[float]:
        """Every sample; never empty."""
        found = [
            value
            for run in self.runs
            if run.contestant == contestant
            and (run.task.operation, run.task.bytes) == (operation, size)
            for value in run.seconds
        ]
        if not found:
            label = self.labels.get(contestant, contestant)
            raise NotMeasuredError(f"{label}: {operation} of {size} B not measured")
        return found

    def least(self, contestant: str, operation: str, size: int) -> float:
        return min(self.times(contestant, operation, size))

    def median(self, contestant: str, operation: str, size: int) -> float:
        return statistics.median(self.times(contestant, operation, size))
