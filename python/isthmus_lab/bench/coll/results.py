"""Samples of collectives, and the figures made from them. Times are in seconds.

An execution lasts until the last rank is done; a figure is the median of executions.
"""

import statistics
from dataclasses import dataclass, field
from typing import Any

from isthmus_lab.bench.coll import tasks
from isthmus_lab.bench.coll.bounds import Wires, bound, wires_from_json
from isthmus_lab.bench.coll.tasks import CollTask
from isthmus_lab.measuring.samples import NotMeasuredError, Samples


@dataclass(frozen=True)
class CollRun:
    """The result of one task for one contestant in one pass. For each execution it has `seconds`
    until the last rank was done, `medians` over ranks, and `firsts` until the first was done. For
    non-blocking forms `overlapped` has executions with `computing` seconds between the call and its
    MPI_Wait."""

    contestant: str
    round: int
    task: CollTask
    ranks: int
    seconds: tuple[float, ...]
    medians: tuple[float, ...]
    computing: float = 0.0
    overlapped: tuple[float, ...] = ()
    variant: str = ""
    firsts: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "contestant": self.contestant,
            "pass": self.round,
            "task": self.task.text,
            "ranks": self.ranks,
            "seconds": list(self.seconds),
            "medians": list(self.medians),
        }
        if self.firsts:
            found["firsts"] = list(self.firsts)
        if self.overlapped:
            found |= {"computing": self.computing, "overlapped": list(self.overlapped)}
        if self.variant:
            found["variant"] = self.variant
        return found


def run_from_json(data: dict[str, Any]) -> CollRun:
    """ValueError, KeyError or TypeError if the data is malformed."""
    task = tasks.parse(str(data["task"]))
    seconds, medians, overlapped, firsts = (
        tuple(float(value) for value in data.get(key) or ())
        for key in ("seconds", "medians", "overlapped", "firsts")
    )
    if not seconds or len(medians) != len(seconds) or len(firsts) not in (0, len(seconds)):
        raise ValueError(f"{task.text}: {len(seconds)} times and {len(medians)} medians")
    if any(value <= 0 for value in (*seconds, *medians, *overlapped)):
        raise ValueError(f"{task.text}: a time that is not positive")
    return CollRun(
        str(data.get("contestant", "")),
        int(data.get("pass", 0)),
        task,
        int(data["ranks"]),
        seconds,
        medians,
        float(data.get("computing", 0.0)),
        overlapped,
        str(data.get("variant", "")),
        firsts,
    )


@dataclass
class CollResults(Samples[CollRun]):
    """`wires` are the measurements of the wires, by variant of the testbed."""

    wires: dict[str, Wires] = field(default_factory=dict)

    @staticmethod
    def read(data: dict[str, Any]) -> CollRun:
        return run_from_json(data)

    def as_json(self) -> dict[str, Any]:
        wires = {variant: found.as_json() for variant, found in self.wires.items()}
        return {**super().as_json(), "wires": wires}

    def merge(self, data: dict[str, Any], variant: str = "") -> None:
        super().merge(data, variant)
        for own, found in data["wires"].items():
            self.wires[variant or own] = wires_from_json(found)

    # -- what there is -----------------------------------------------------------------------

    def cells(self, variant: str = "") -> list[tuple[str, int, bool]]:
        """Collective, size and whether interleaved: in the order of the table, each once."""
        seen = {
            (run.task.collective, run.task.bytes, run.task.interleaved)
            for run in self.runs
            if run.variant == variant
        }
        order = list(tasks.COLLECTIVES)
        order += [f"i{name}" for name in order]
        return sorted(seen, key=lambda cell: (order.index(cell[0]), cell[2], cell[1]))

    def runs_of(
        self, contestant: str, collective: str, size: int, interleaved: bool, variant: str
    ) -> list[CollRun]:
        return [
            run
            for run in self.runs
            if run.contestant == contestant
            and run.variant == variant
            and run.task.collective == collective
            and run.task.bytes == size
            and run.task.interleaved == interleaved
        ]

    # -- figures -----------------------------------------------------------------------------

    def times(
        self,
        contestant: str,
        collective: str,
        size: int,
        interleaved: bool = False,
        variant: str = "",
    ) -> list[float]:
        """The times of all executions, until the last rank was done; never empty."""
        runs = self.runs_of(contestant, collective, size, interleaved, variant)
        if not runs:
            label = self.labels.get(contestant, contestant)
            order = ", interleaved" if interleaved else ""
            where = f", {variant}" if variant else ""
            raise NotMeasuredError(f"{label}: {collective} of {size} B{order}{where} not measured")
        return [value for run in runs for value in run.seconds]

    def time(
        self,
        contestant: str,
        collective: str,
        size: int,
        interleaved: bool = False,
        variant: str = "",
    ) -> float:
        """The median of executions."""
        return statistics.median(self.times(contestant, collective, size, interleaved, variant))

    def middle(
        self,
        contestant: str,
        collective: str,
        size: int,
        interleaved: bool = False,
        variant: str = "",
    ) -> float:
        """The median of executions of the median over ranks."""
        self.times(contestant, collective, size, interleaved, variant)
        runs = self.runs_of(contestant, collective, size, interleaved, variant)
        return statistics.median(value for run in runs for value in run.medians)

    def spread(self, contestant: str, collective: str, size: int, variant: str = "") -> float:
        """The median of executions of the time from the first rank's end to the last one's."""
        self.times(contestant, collective, size, False, variant)
        runs = self.runs_of(contestant, collective, size, False, variant)
        found = [
            last - first
            for run in runs
            for last, first in zip(run.seconds, run.firsts, strict=False)
        ]
        if not found:
            raise NotMeasuredError(f"{contestant}: the ends of {collective} were not kept")
        return statistics.median(found)

    def bound(self, collective: str, size: int, variant: str = "") -> float:
        """The limit of the wires."""
        if variant not in self.wires:
            raise NotMeasuredError("the wires were not measured")
        ranks = max((run.ranks for run in self.runs if run.variant == variant), default=0)
        blocking = CollTask(collective, size, 1).blocking
        return bound(blocking, size, ranks, self.wires[variant])

    def overlaps(self, variant: str = "") -> list[tuple[str, int, int]]:
        """Collective, size and calls of MPI_Test of all non-blocking forms, each once."""
        return sorted(
            {
                (run.task.collective, run.task.bytes, run.task.tests or 0)
                for run in self.runs
                if run.variant == variant and run.overlapped
            }
        )

    def overlap(
        self, contestant: str, collective: str, size: int, tests: int = 0, variant: str = ""
    ) -> float:
        """The part of a non-blocking collective's time that computing hides, with `tests` calls of
        MPI_Test meanwhile."""
        found = [
            1 - (value - run.computing) / statistics.median(run.seconds)
            for run in self.runs_of(contestant, collective, size, False, variant)
            if (run.task.tests or 0) == tests
            for value in run.overlapped
        ]
        if not found:
            label = self.labels.get(contestant, contestant)
            raise NotMeasuredError(f"{label}: overlap of {collective} of {size} B not measured")
        return min(1.0, max(0.0, statistics.median(found)))
