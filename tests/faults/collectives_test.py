"""A member of a communicator has an error in a collective and goes on, since its handler returns.
The others, who wait for it in vain, end the job with the reason; where none has to, it goes on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, check

SOURCE = Path(__file__).with_name("collectives.c")


def run(grid: Grid, folder: Path, library: str, mode: str, *words: int):
    program = folder / "collectives"
    subprocess.run([COMPILERS[library], SOURCE, "-o", program], check=True)
    return grid.run("-n", 4, program, mode, *words)


@pytest.mark.parametrize("library", ["ompi", "mpich"])
def test_the_others_wait_in_vain(grid: Grid, tmp_path: Path, library: str) -> None:
    # Rank 3 gets its data by rank 2.
    grid.environment = {**grid.environment, "ISTHMUS_COLL": "bcast=magpie"}
    done = run(grid, tmp_path, library, "forgotten", 2)
    check(done, None, "MPI_Ibcast cannot end here, since it has failed on rank 2: ", "count")
    assert "rank 2 has an error\n" in done.stdout
    assert "all went on" not in done.stdout


@pytest.mark.parametrize(
    ("library", "mode", "rank"),
    [
        ("mpich", "leaf", 3),
        ("ompi", "leaf", 3),
        ("mpich", "inter-leaf", 3),
    ],
)
def test_the_others_need_not_wait(
    grid: Grid, tmp_path: Path, library: str, mode: str, rank: int
) -> None:
    # Longer than the others would wait.
    done = run(grid, tmp_path, library, mode, rank, 11 if mode == "inter-leaf" else 0)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["all went on", f"rank {rank} has an error"]
