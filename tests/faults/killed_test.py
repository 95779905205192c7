"""A rank is killed while the others wait for it. They make communicators, are in a collective
between two sides or in an epoch of a window, or wait for its partitions. All end, with a sentence
that names the rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty import Grid, check_one_killed

# Open MPI 4.1 has neither create-from-group nor precv.
CASES = [
    ("making", "mpich", "intercomm-create", 0),
    ("making", "ompi", "intercomm-create", 3),
    ("making", "mpich", "inter-collective", 3),
    ("making", "ompi", "inter-collective", 0),
    ("making", "mpich", "create-from-group", 0),
    ("making", "mpich", "precv", 3),
    ("windows", "mpich", "lock", 3),
    ("windows", "ompi", "lock", 0),
    ("windows", "mpich", "fence", 0),
    ("windows", "ompi", "fence", 3),
    ("windows", "ompi", "flush", 3),
    ("windows", "mpich", "post", 3),
]


@pytest.mark.parametrize(("program", "library", "mode", "rank"), CASES)
def test_a_rank_is_killed(
    grid: Grid, tmp_path: Path, program: str, library: str, mode: str, rank: int
) -> None:
    source = Path(__file__).with_name(f"{program}.c")
    check_one_killed(grid, source, tmp_path, library, mode, rank)
