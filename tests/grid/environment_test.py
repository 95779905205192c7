"""The environment of ranks, and the part of the command line that MPI reports for them."""

from __future__ import annotations

import os
from pathlib import Path

import mpis
import pytest

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static const char* get(const char* name) {
  return getenv(name) ? getenv(name) : "none";
}
int main(int argc, char** argv) {
  int rank, size, flag = 0, *appnum = NULL;
  char before[64];
  snprintf(before, sizeof before, "%s/%s", get("ISTHMUS_RANK"), get("ISTHMUS_SIZE"));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
  printf("%d/%d %s %s/%s local %s part %d path %s libraries %s\n", rank, size, before,
         get("ISTHMUS_RANK"), get("ISTHMUS_SIZE"), get("ISTHMUS_LOCAL_RANK"), flag ? *appnum : -1,
         get("PATH"), get("LD_LIBRARY_PATH"));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(params=mpis.TESTED)
def program(request, programs: Path) -> Path:
    return mpis.ALL[request.param].build_text(PROGRAM, programs / f"environment-{request.param}")


@pytest.fixture
def venv(tmp_path: Path, monkeypatch) -> Path:
    """A folder that stands first on PATH, as that of an activated virtual environment."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def expected(parts: list[int], libraries: str) -> list[str]:
    size, path = len(parts), os.environ["PATH"]
    return [
        f"{rank}/{size} {rank}/{size} {rank}/{size} local {rank} part {part} path {path} "
        f"libraries {libraries}"
        for rank, part in enumerate(parts)
    ]


def test_the_grid(isthmus, program: Path, venv: Path, monkeypatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(venv))
    done = isthmus.well("run", *mpis.on(east=(2, program), west=(2, program, "x")))
    assert sorted(done.stdout.splitlines()) == expected([0, 0, 1, 1], str(venv))


def test_one_cluster(isthmus, program: Path, venv: Path, monkeypatch) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    done = isthmus.well(
        "run", "--on", "west", "-n", 2, program, ":", "--on", "west", "-n", 1, program
    )
    assert sorted(done.stdout.splitlines()) == expected([0, 0, 1], "none")
