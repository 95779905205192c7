"""Samples of accesses to files."""

from dataclasses import dataclass
from typing import Any

from isthmus_lab.bench.io import tasks
from isthmus_lab.bench.timed import TimedResults, TimedRun, read_run


def run_from_json(data: dict[str, Any]) -> TimedRun:
    """ValueError, KeyError or TypeError if the data is malformed."""
    return read_run(data, tasks.parse(str(data["task"])))


@dataclass
class IoResults(TimedResults):
    """Results of file accesses."""

    @staticmethod
    def read(data: dict[str, Any]) -> TimedRun:
        return run_from_json(data)

    def sizes(self, contestant: str, operation: str) -> list[int]:
        """The sizes that were measured, ascending."""
        return sorted(
            {
                run.task.bytes
                for run in self.runs
                if (run.contestant, run.task.operation) == (contestant, operation)
            }
        )
