"""Standard input of any size reaches world rank 0 whole, also where that is slow to read it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zlib
from pathlib import Path

import mpis
import pytest

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


@pytest.mark.parametrize("library", mpis.ALL)
@pytest.mark.parametrize("where", [("-n", "4"), ("--on", "west", "-n", "2")], ids=["grid", "one"])
def test_some_megabytes(programs: Path, tmp_path: Path, library: str, where) -> None:
    source = programs / "stdin.c"
    source.write_text(PROGRAM)
    program = programs / f"stdin-{library}"
    subprocess.run([mpis.ALL[library].cc, source, "-o", program], check=True, timeout=60)
    data = random.Random(7).randbytes(5_000_001)
    begin = tmp_path / "begin"
    (tmp_path / "data").write_bytes(data)
    with (
        (tmp_path / "data").open("rb") as feed,
        subprocess.Popen(
            [sys.executable, "-m", "isthmus", "run", *where, program, begin],
            stdin=feed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "ISTHMUS_START_TIMEOUT": "120"},
        ) as running,
    ):
        assert running.stdout
        assert running.stdout.readline() == "up\n"
        begin.touch()
        try:
            out, err = running.communicate(timeout=120)
        finally:
            running.terminate()
    assert running.returncode == 0, err
    assert out == f"{len(data)} bytes, {zlib.adler32(data)}\n"


def test_none_at_all(isthmus, programs: Path) -> None:
    source = programs / "stdin.c"
    source.write_text(PROGRAM)
    program = programs / "stdin-none"
    subprocess.run([mpis.ALL["mpich4"].cc, source, "-o", program], check=True, timeout=60)
    done = isthmus("run", "-n", 2, program, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "up\n0 bytes, 1\n"), done.stderr
