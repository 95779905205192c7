"""A run on one cluster is a native job: nothing of the grid is in its way."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import mpis
import pytest

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char** environ;
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (char** entry = environ; *entry; ++entry)
    if (strstr(*entry, "libisthmus") || !strncmp(*entry, "ISTHMUS_SECRET", 14) ||
        !strncmp(*entry, "ISTHMUS_WORLD", 13))
      printf("holds %s\n", *entry);
  printf("rank %d of %d in %s\n", rank, size, getenv("ISTHMUS_CLUSTER"));
  fflush(stdout);
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
# Neither needs an MPI library that Isthmus knows.
STATIC = "int MPI_Init(void) { return 7; } int main(void) { return MPI_Init(); }"


@pytest.fixture(params=mpis.TESTED)
def program(request, programs: Path) -> Path:
    return mpis.ALL[request.param].build_text(PROGRAM, programs / f"alone-{request.param}")


def lines(size: int) -> list[str]:
    return [f"rank {rank} of {size} in east" for rank in range(size)]


def test_programs(isthmus, program: Path, tmp_path: Path) -> None:
    single, roomy = tmp_path / "single.toml", tmp_path / "roomy.toml"
    single.write_text("[cluster.east]\n")
    roomy.write_text("[cluster.east]\nslots = 4\n[cluster.west]\nslots = 4\n")
    for size, words in (
        (1, ("-n", 1)),
        (2, ("--on", "east", "-n", 2)),
        (2, ("-g", single, "-n", 2)),
        (3, ("-g", roomy, "-n", 3)),
    ):
        done = isthmus("run", *words, program)
        assert (done.returncode, done.stderr) == (0, ""), words
        assert sorted(done.stdout.splitlines()) == lines(size), words


def test_status(isthmus, program: Path) -> None:
    done = isthmus("run", "--on", "west", "-n", 2, program, 5)
    assert done.returncode == 5, done.stderr
    assert "isthmus: cluster west: the program ended with status 5" in done.stderr


def test_programs_without_mpi(isthmus, tmp_path: Path) -> None:
    done = isthmus("run", "--on", "east", "-n", 2, "hostname")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [socket.gethostname()] * 2
    (tmp_path / "static.c").write_text(STATIC)
    program = tmp_path / "static"
    subprocess.run(["cc", tmp_path / "static.c", "-o", program], check=True, timeout=240)
    assert isthmus("run", "-n", 1, program).returncode == 7
