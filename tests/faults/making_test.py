"""A rank is killed while the others wait for it where communicators are made, in a collective
between two sides, or for its partitions. All end, with a sentence that names the rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty import Grid, check_one_killed

SOURCE = Path(__file__).with_name("making.c")
# Open MPI 4.1 has neither of the last two.
CASES = [
    ("mpich", "intercomm-create", 0),
    ("ompi", "intercomm-create", 3),
    ("mpich", "inter-collective", 3),
    ("ompi", "inter-collective", 0),
    ("mpich", "create-from-group", 0),
    ("mpich", "precv", 3),
]


@pytest.mark.parametrize(("library", "mode", "rank"), CASES)
def test_a_rank_is_killed(grid: Grid, tmp_path: Path, library: str, mode: str, rank: int) -> None:
    check_one_killed(grid, SOURCE, tmp_path, library, mode, rank)
