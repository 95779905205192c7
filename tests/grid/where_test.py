"""SIGQUIT asks where the ranks are, while they wait for each other over two clusters."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from running import Running
from waiting import eventually

SOURCE = """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, values[2];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "mine");
  for (int i = 0; i < 10; ++i) MPI_Barrier(comm);
  if (rank == 0) puts("up");
  fflush(stdout);
  if (rank == 0) MPI_Recv(values, 1, MPI_INT, 3, 5, comm, statuses);
  if (rank == 1) MPI_Barrier(comm);
  if (rank == 2) {
    MPI_Irecv(values, 1, MPI_INT, 0, 8, comm, requests);
    MPI_Irecv(values + 1, 1, MPI_INT, 1, 9, comm, requests + 1);
    MPI_Waitall(2, requests, statuses);
  }
  if (rank == 3) MPI_Recv(values, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, statuses);
  MPI_Finalize();
  return 0;
}
"""
EXPECTED = [
    r"rank 0 .*: MPI_Recv from rank 3 with tag 5, on mine of 4 ranks, for \d+ s",
    r"rank 1 .*: MPI_Barrier, on mine of 4 ranks, awaiting messages from rank [023].*, for \d+ s",
    r"rank 2 .*: MPI_Waitall of 2 requests, awaiting messages from rank 0 with tag 8, "
    r"from rank 1 with tag 9, for \d+ s",
    r"rank 3 .*: MPI_Recv from any rank with any tag, on mine of 4 ranks, for \d+ s",
]


@pytest.fixture(params=["openmpi4 gateway", "mpich4 gateway", "mpich4 memory"])
def running(request, tmp_path: Path) -> Iterator[Running]:
    mpi, reach = request.param.split()
    built = mpis.ALL[mpi].build_text(SOURCE, tmp_path / "stuck")
    with Running(
        [sys.executable, "-m", "isthmus", "run", "-n", "4", built],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=os.environ
        | {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
        | {"ISTHMUS_COLL": "barrier=fan"}  # by messages alone
        | ({"ISTHMUS_REACH": "gateway"} if reach == "gateway" else {}),
    ) as process:
        yield process
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=240)


def asked(process: Running) -> list[str]:
    process.send_signal(signal.SIGQUIT)
    assert process.stderr
    first = process.stderr.readline()
    if "the ranks are in" not in first:
        return [first] + 3 * [""]
    return [process.stderr.readline().strip() for _ in range(4)]


def test_who_waits_for_whom(running):
    assert running.stdout.readline() == "up\n"
    eventually(
        lambda: all(map(re.fullmatch, EXPECTED, asked(running))), "that all are where they wait"
    )
    assert running.poll() is None
