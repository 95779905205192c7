"""A run on one cluster is a native job: nothing of the grid is in its way."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import mpis
import pytest

PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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
  char command[4096] = "";
  int there = 0;
  MPI_Info_get(MPI_INFO_ENV, "command", sizeof command - 1, command, &there);
  if (there && strcmp(command, argv[0])) printf("is named %s\n", command);
  printf("rank %d of %d in %s\n", rank, size, getenv("ISTHMUS_CLUSTER"));
  fflush(stdout);
  while (argc > 2) {  // the last rank alone gets the signal
    if (rank < size - 1) pause();
    signal(atoi(argv[2]), SIG_DFL);
    raise(atoi(argv[2]));
  }
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
# Both run without an MPI library that Isthmus knows.
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


def test_python_programs_have_their_own_name(isthmus) -> None:
    """Open MPI knows a command; MPICH 4.0 has none."""
    python = mpis.ALL["openmpi5"].python
    code = "from mpi4py import MPI; print(MPI.INFO_ENV.Get('command'))"
    done = isthmus("run", "--on", "east", "-n", 1, python, "-c", code)
    assert (done.returncode, done.stdout) == (0, f"{python}\n"), done.stderr


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


@pytest.mark.parametrize(
    ("words", "number"),
    [(("-n", 2), signal.SIGUSR1), (("--on", "east", "-n", 2), signal.SIGSEGV)],
    ids=["grid", "one"],
)
def test_a_signal_is_told_alike_by_all_libraries(isthmus, program: Path, words, number) -> None:
    """On one cluster by a signal that has all bits of SIGKILL: Hydra joins it to the statuses."""
    done = isthmus("run", *words, program, 0, number.value)
    assert done.returncode == 128 + number, done.stderr
    host = socket.gethostname().partition(".")[0]
    assert f"was killed by signal {number.value} ({number.name}) on {host}" in done.stderr
