"""Times of programs in seconds, and what they show about layouts. The papers take the best."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isthmus_lab.bench.app.layouts import LAYOUTS, SPLIT
from isthmus_lab.measuring.samples import NotMeasuredError, Samples, where_measured


@dataclass(frozen=True)
class AppRun:
    """One execution. `n` is the number of ranks of the split layout that it is compared with,
    `ranks` its own. `wall` is the time of the whole command."""

    contestant: str
    round: int
    program: str
    layout: str
    n: int
    ranks: int
    seconds: float
    wall: float
    variant: str = ""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "contestant": self.contestant,
            "pass": self.round,
            "program": self.program,
            "layout": self.layout,
            "n": self.n,
            "ranks": self.ranks,
            "seconds": self.seconds,
            "wall": self.wall,
        }
        if self.variant:
            found["variant"] = self.variant
        return found


def run_from_json(data: dict[str, Any]) -> AppRun:
    """ValueError, KeyError or TypeError if the data is malformed."""
    if data["layout"] not in LAYOUTS:
        raise ValueError(f"not a layout: {data['layout']}")
    seconds, wall = float(data["seconds"]), float(data["wall"])
    if seconds <= 0 or wall <= 0:
        raise ValueError(f"{data['program']}: a time that is not positive")
    return AppRun(
        str(data.get("contestant", "")),
        int(data.get("pass", 0)),
        str(data["program"]),
        str(data["layout"]),
        int(data["n"]),
        int(data["ranks"]),
        seconds,
        wall,
        str(data.get("variant", "")),
    )


@dataclass(frozen=True)
class Cell:
    """The subject of a row of the table."""

    program: str
    n: int
    layout: str
    variant: str = ""

    def __str__(self) -> str:
        where = f", {self.variant}" if self.variant else ""
        return f"{self.program}, {self.layout} of {self.n}{where}"


class AppResults(Samples[AppRun]):
    """Results of programs."""

    @staticmethod
    def read(data: dict[str, Any]) -> AppRun:
        return run_from_json(data)

    # -- what there is -----------------------------------------------------------------------

    def variants(self) -> list[str]:
        return list(dict.fromkeys(run.variant for run in self.runs))

    def programs(self) -> list[str]:
        return list(dict.fromkeys(run.program for run in self.runs))

    def numbers(self) -> list[int]:
        return sorted({run.n for run in self.runs})

    def cells(self, variant: str = "") -> list[Cell]:
        """In the order of programs, ranks and layouts, each once."""
        seen = {
            Cell(run.program, run.n, run.layout, variant)
            for run in self.runs
            if run.variant == variant
        }
        order = self.programs()
        return sorted(seen, key=lambda c: (order.index(c.program), c.n, LAYOUTS.index(c.layout)))

    # -- figures -----------------------------------------------------------------------------

    def times(self, contestant: str, cell: Cell) -> list[float]:
        """The times of all executions; never empty."""
        found = [
            run.seconds
            for run in self.runs
            if run.contestant == contestant
            and Cell(run.program, run.n, run.layout, run.variant) == cell
        ]
        if not found:
            raise NotMeasuredError(
                f"{self.labels.get(contestant, contestant)}: {cell} not measured"
            )
        return found

    def best(self, contestant: str, cell: Cell) -> float:
        return min(self.times(contestant, cell))

    def median(self, contestant: str, cell: Cell) -> float:
        return statistics.median(self.times(contestant, cell))

    def gain(self, contestant: str, program: str, n: int, layout: str, variant: str = "") -> float:
        """The speed of the split layout over another one; below 1 it is slower."""
        other = self.best(contestant, Cell(program, n, layout, variant))
        return other / self.best(contestant, Cell(program, n, SPLIT, variant))

    def best_of(self, contestants: Sequence[str], cell: Cell) -> tuple[float, str]:
        """The least time among them, and its contestant."""
        otherwise = f"{cell}: not measured by any contestant that counts"
        times = where_measured(contestants, lambda key: self.best(key, cell), otherwise)
        return min((time, key) for key, time in times.items())
