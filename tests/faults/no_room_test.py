"""Ranks that end in MPI_Init, or find no room there for threads and processes."""

import re
import socket
import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, check

SOURCE = Path(__file__).with_name("no_room.c")
HERE = socket.gethostname()


@pytest.fixture
def no_room(tmp_path):
    def build(mpi: str) -> Path:
        program = tmp_path / f"no_room.{mpi}"
        command = [COMPILERS[mpi], SOURCE, "-rdynamic", "-ldl", "-o", program]
        subprocess.run(command, check=True)
        return program

    return build


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
def test_no_thread_for_a_rank(grid: Grid, no_room, mpi):
    done = grid.run("-n", 4, no_room(mpi), "refuse", 1)
    check(
        done, 1, f'isthmus: rank 1 (cluster "east") on {HERE} cannot join the grid: cannot start',
        "the thread isthmus: Resource temporarily unavailable", "ulimit -u",
    )  # fmt: skip
    assert "joined" not in done.stdout


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
def test_a_rank_that_is_killed_in_init(grid: Grid, no_room, mpi):
    done = grid.run("-n", 4, no_room(mpi), "die", 1)
    # The native launcher ends the other rank of the cluster, and that may be seen first.
    how = rf"was killed by signal 9 \(SIGKILL\) on {HERE} in MPI_Init"
    assert re.search(rf'isthmus: rank [01] \(cluster "east"\) {how}', done.stderr), done.stderr
    assert done.returncode == 137
    assert "joined" not in done.stdout
