"""Wrappers around programs of an MPI that is not the first on PATH."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from running import shell_script

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%d of %d\n", rank, size);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(params=mpis.TESTED)
def library(request) -> mpis.Mpi:
    return mpis.ALL[request.param]


@pytest.fixture
def program(library: mpis.Mpi, tmp_path: Path) -> Path:
    return library.build_text(PROGRAM, tmp_path / "app")


def check(done) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 of 2", "1 of 2"]


def test_found_out(isthmus, program: Path, tmp_path: Path) -> None:
    check(isthmus("run", "-n", 2, "env", "X=1", "nice", program))
    run = shell_script(tmp_path / "run.sh", 'exec ./app "$@"')
    check(isthmus("run", "-n", 2, "--wdir", tmp_path, run, "x"))


def test_told(isthmus, library: mpis.Mpi, program: Path, tmp_path: Path) -> None:
    """A script that does not name what it starts."""
    run = shell_script(tmp_path / "run.sh", 'exec "$APP"')
    if library.name == "mpiabi5":  # its folder holds a library of MPICH's own ABI, too
        choice = str(min(Path(library.mpirun).parents[1].glob("lib/libmpi_abi.so.*")))
    elif library.mpirun.startswith("/"):
        choice = str(Path(library.mpirun).parents[1])
    else:
        choice = library.name.rstrip("4")
    check(isthmus("run", "--mpi", choice, "-n", 2, "-x", f"APP={program}", run))


def test_an_error_names_the_remedy(isthmus, tmp_path: Path) -> None:
    app = mpis.ALL["mpich4"].build_text(PROGRAM, tmp_path / "app")
    run = shell_script(tmp_path / "run.sh", 'exec "$APP"')
    done = isthmus("run", "--mpi", "openmpi", "-n", 2, "-x", f"APP={app}", run)
    assert done.returncode != 0
    assert "isthmus run --mpi" in done.stderr
    done = isthmus("run", "--mpi", "openmpi", "-n", 2, app)
    assert done.returncode == 1
    assert "which is not the MPI that --mpi" in done.stderr
    done = isthmus("run", "--mpi", "mpitch", "-n", 2, app)
    assert done.returncode == 2
    assert "did you mean 'mpich'" in done.stderr


def test_a_python_behind_a_script(isthmus, tmp_path: Path) -> None:
    python = mpis.ALL["mpich5"].python
    program = tmp_path / "hello.py"
    program.write_text(
        "from mpi4py import MPI\nprint(MPI.COMM_WORLD.rank, 'of', MPI.COMM_WORLD.size)\n"
    )
    run = shell_script(tmp_path / "run.sh", f"exec {python} {program}")
    check(isthmus("run", "-n", 2, run))
