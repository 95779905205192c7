"""A timeline over a wide-area network whose delay is known, from ranks on hosts of their own."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import mpis
from trace_events import Timeline

SOURCE = """\
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, size, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD);
  if (rank == size - 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


def test_messages_take_the_networks_delay(lab, tmp_path: Path) -> None:
    program = mpis.ALL["openmpi4"].build_text(SOURCE, tmp_path / "program")
    file = tmp_path / "run.json.gz"
    run = [sys.executable, "-m", "isthmus", "run", "--stats", "--trace", file, "-n", 4, program]
    done = lab("run", "hablot", "--", *run)
    assert done.returncode == 0, done.stderr
    line = Timeline(file)
    assert line.about["missing"] == []
    (sent,) = [e for e in line.slices("rank 0", "send") if e["args"]["of"] == "the program"]
    (got,) = [e for e in line.slices("rank 3", "receive") if e["args"]["of"] == "the program"]
    assert got["ts"] + got["dur"] - sent["ts"] >= 5700  # of a round trip of 11.6 ms
    (to,) = re.findall(r"│ a -> b *│ +(\d+) │ +(\d+) │", done.stderr)
    assert line.counted()["a -> b"] == tuple(map(int, to))
    assert list(Path.cwd().glob("*-traces-*")) == []
