"""A rank is killed in an epoch of a window. All end, with a sentence that names the rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty import Grid, check_one_killed

SOURCE = Path(__file__).with_name("windows.c")
CASES = [
    ("mpich", "lock", 3),
    ("ompi", "lock", 0),
    ("mpich", "fence", 0),
    ("ompi", "fence", 3),
    ("ompi", "flush", 3),
    ("mpich", "post", 3),
]


@pytest.mark.parametrize(("library", "mode", "rank"), CASES)
def test_a_rank_is_killed(grid: Grid, tmp_path: Path, library: str, mode: str, rank: int) -> None:
    check_one_killed(grid, SOURCE, tmp_path, library, mode, rank)
