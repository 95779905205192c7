"""Samples of one-sided operations."""

from dataclasses import dataclass
from typing import Any

from isthmus_lab.bench.rma import tasks
from isthmus_lab.bench.timed import TimedResults, TimedRun, read_run

RmaRun = TimedRun


def run_from_json(data: dict[str, Any]) -> RmaRun:
    """ValueError, KeyError or TypeError if the data is malformed."""
    return read_run(data, tasks.parse(str(data["task"])))


@dataclass
class RmaResults(TimedResults):
    """Results of one-sided operations."""

    @staticmethod
    def read(data: dict[str, Any]) -> RmaRun:
        return run_from_json(data)

    def least(self, contestant: str, operation: str, size: int = tasks.SMALL) -> float:
        return super().least(contestant, operation, size)

    def median(self, contestant: str, operation: str, size: int = tasks.SMALL) -> float:
        return super().median(contestant, operation, size)
