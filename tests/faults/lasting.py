"""The files of clusters that go on without their launcher."""

from __future__ import annotations

import subprocess
from pathlib import Path

from faulty import COMPILERS, Grid
from waiting import eventually

_INCLUDE = Path(__file__).parents[2] / "include"


def built(folder: Path, name: str, library: str) -> Path:
    """The program `name`.c with this library."""
    program = folder / f"{name}.{library}"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([COMPILERS[library], f"-I{_INCLUDE}", "-o", program, source], check=True)
    return program


def written(grid: Grid, kind: str) -> list[str]:
    """The texts of files of this kind, in the order of the clusters."""
    return [path.read_text() for path in sorted(grid.folder.glob(f"isthmus-*.{kind}"))]


def await_heads(grid: Grid, count: int) -> None:
    """Waits until this number of clusters has noticed that the launcher is lost."""
    eventually(lambda: len(written(grid, "err")) == count, f"that {count} clusters go on")


def statuses(grid: Grid, count: int = 3) -> list[str]:
    """Waits for the end of all clusters that are left, and returns their statuses."""
    eventually(lambda: len([*filter(None, written(grid, "status"))]) == count, "that all end", 240)
    return [text.strip() for text in written(grid, "status")]
