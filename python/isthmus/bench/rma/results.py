"""Samples of one-sided operations, and the figures that are made of them: of times the least, as
everywhere here, with medians beside them."""

import statistics
from dataclasses import dataclass
from typing import Any

from isthmus.bench.rma import tasks
from isthmus.bench.rma.tasks import RmaTask
from isthmus.measuring.samples import NotMeasuredError, Samples


@dataclass(frozen=True)
class RmaRun:
    """What one task gave one contestant in one pass."""

    contestant: str
    round: int
    task: RmaTask
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


def run_from_json(data: dict[str, Any]) -> RmaRun:
    """ValueError, KeyError or TypeError for what is none."""
    task = tasks.parse(str(data["task"]))
    seconds = tuple(float(value) for value in data["seconds"])
    if not seconds or any(value <= 0 for value in seconds):
        raise ValueError(f"{task.text}: no times, or one that is not positive")
    return RmaRun(
        str(data.get("contestant", "")),
        int(data.get("pass", 0)),
        task,
        seconds,
        str(data.get("variant", "")),
    )


@dataclass
class RmaResults(Samples[RmaRun]):
    """Of one-sided operations. Times are in seconds."""

    @staticmethod
    def read(data: dict[str, Any]) -> RmaRun:
        return run_from_json(data)

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

    def least(self, contestant: str, operation: str, size: int = tasks.SMALL) -> float:
        return min(self.times(contestant, operation, size))

    def median(self, contestant: str, operation: str, size: int = tasks.SMALL) -> float:
        return statistics.median(self.times(contestant, operation, size))
