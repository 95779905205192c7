"""Runs `isthmus tune` on the grid files of a benchmark, as any user would."""

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from isthmus.base.errors import IsthmusError
from isthmus.grid.grid import Grid
from isthmus.tune import store
from isthmus.tune.agreement import judge
from isthmus.tune.figures import best
from isthmus.tune.measure import measure


def tune(file: Path, grid: Grid, mpicc: str, passes: int, say: Callable[[str], None]) -> None:
    """The figures stand beside `file`, and each `isthmus run` with it uses them. If tuning fails,
    Isthmus runs untuned, which is reported."""
    try:
        found = best([measure(file, grid, None, mpicc) for _ in range(passes)])
        verdict = judge([found], grid)  # against the grid file alone: labs match it
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        store.write(file, verdict.figures, when, verdict.left_out)
        for doubt in verdict.doubts:
            say(f"tuned, without figures in doubt: {doubt.sentence}")
        say(f"tuned: {verdict.figures.network(verdict.left_out)}")
    except IsthmusError as error:
        say(f"not tuned: {error}")
