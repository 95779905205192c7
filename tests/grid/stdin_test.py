"""Standard input of any size reaches world rank 0 whole, even if that rank reads it slowly."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zlib
from pathlib import Path

import mpis
import pytest
from running import Running

# Rank 0 begins to read only when a file is there: by then its launcher was given all that it takes.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank;
  static unsigned char block[65536];
  unsigned long count = 0, low = 1, high = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    puts("up");
    fflush(stdout);
    while (argc > 1 && access(argv[1], F_OK) != 0) usleep(10000);
  }
  if (rank == 0) {
    for (ssize_t got; (got = read(0, block, sizeof block)) > 0; count += got)
      for (ssize_t i = 0; i < got; ++i) {
        low = (low + block[i]) % 65521;
        high = (high + low) % 65521;
      }
    printf("%lu bytes, %lu\n", count, high << 16 | low);
  }
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
"""


WHERE = {"grid": ["-n", "4"], "one": ["--on", "west", "-n", "2"], "hosts": ["-n", "4"]}


def words(where: str, folder: Path) -> list[str]:
    """Of the command line; `hosts`: rank 0 is where the agent does not expect it to be."""
    if where != "hosts":
        return WHERE[where]
    grid = folder / "grid.toml"
    grid.write_text("[cluster.east]\nhosts = 'localhost'\n[cluster.west]\n")
    return ["-g", str(grid), *WHERE[where]]


@pytest.mark.parametrize("library", mpis.TESTED)
@pytest.mark.parametrize("where", WHERE)
def test_some_megabytes(programs: Path, tmp_path: Path, library: str, where) -> None:
    program = mpis.ALL[library].build_text(PROGRAM, programs / f"stdin-{library}")
    data = random.Random(7).randbytes(5_000_001)
    begin = tmp_path / "begin"
    (tmp_path / "data").write_bytes(data)
    with (
        (tmp_path / "data").open("rb") as feed,
        Running(
            [sys.executable, "-m", "isthmus", "run", *words(where, tmp_path), program, begin],
            stdin=feed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "ISTHMUS_START_TIMEOUT": "120"},
        ) as running,
    ):
        assert running.stdout
        assert running.stdout.readline() == "up\n"
        begin.touch()
        try:
            out, err = running.communicate(timeout=240)
        finally:
            running.terminate()
    assert running.returncode == 0, err
    assert out == f"{len(data)} bytes, {zlib.adler32(data)}\n"


@pytest.mark.parametrize("where", ["grid", "hosts"])
def test_none_at_all(isthmus, programs: Path, tmp_path: Path, where: str) -> None:
    program = mpis.ALL["mpich4"].build_text(PROGRAM, programs / "stdin-none")
    done = isthmus("run", *words(where, tmp_path), program, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "up\n0 bytes, 1\n"), done.stderr


def test_nobody_reads(isthmus, tmp_path: Path) -> None:
    """Also what brings the input to another host ends with the rank."""
    deaf = (
        "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n"
    )
    program = mpis.ALL["mpich4"].build_text(deaf, tmp_path / "deaf")
    (tmp_path / "data").write_bytes(bytes(5_000_000))
    with (tmp_path / "data").open("rb") as feed:
        done = isthmus("run", *words("hosts", tmp_path), program, stdin=feed)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
