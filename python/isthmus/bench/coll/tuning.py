"""`isthmus tune` of the grid files of a benchmark, as of those of any user."""

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from isthmus.errors import IsthmusError
from isthmus.grid import Grid
from isthmus.tune import store
from isthmus.tune.figures import best
from isthmus.tune.measure import measure


def tune(file: Path, grid: Grid, mpicc: str, passes: int, say: Callable[[str], None]) -> None:
    """What is found stands beside `file` and is heeded by each `isthmus run` with it. Where it
    fails Isthmus goes untuned, which is said."""
    try:
        figures = best([measure(file, grid, None, mpicc) for _ in range(passes)])
        store.write(file, figures, datetime.now(timezone.utc).isoformat(timespec="seconds"))
        say(f"tuned: {figures.network()}")
    except IsthmusError as error:
        say(f"not tuned: {error}")
