"""ISTHMUS_TRACE over two clusters: every process leaves its dump, at the end and after a fault."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

SOURCE = """\
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, size, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD);
  if (rank == size - 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == size - 1 && argc > 1) raise(atoi(argv[1]));
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(params=["openmpi4", "mpich4"])
def program(request, tmp_path: Path) -> Path:
    return mpis.ALL[request.param].build_text(SOURCE, tmp_path / "program")


def test_every_process_leaves_a_trace(isthmus, program, tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_TRACE", "all")
    monkeypatch.setenv("ISTHMUS_TRACE_DIR", str(tmp_path))
    done = isthmus.well("run", "-n", 2, program)
    files = sorted(tmp_path.glob("*.trace"))
    who = ["agent-east", "agent-west", "rank-0", "rank-1"]
    assert [path.stem.split("-", 2)[2] for path in files] == who
    for path in files:
        assert done.stderr.count(str(path)) == 1
    text = isthmus("trace", *files).stdout
    for event in ("frame-passed-on", "collective=bcast", "comm-made", "receive-done"):
        assert event in text
    of_one = isthmus("trace", *files, "--rank", 0, "--subsystem", "match").stdout.splitlines()
    assert any(line.split()[5:7] == ["send-begun", "peer=1"] for line in of_one)
    assert all(line.split()[4] == "match" for line in of_one[1:])


@pytest.mark.parametrize("number", [6, 11])
def test_a_fault_leaves_a_trace(isthmus, program, tmp_path, monkeypatch, number):
    monkeypatch.setenv("ISTHMUS_TRACE", "match")
    monkeypatch.setenv("ISTHMUS_TRACE_DIR", str(tmp_path))
    done = isthmus("run", "-n", 2, program, number)
    assert done.returncode not in (0, 1), done.stderr
    (broken,) = tmp_path.glob("*-rank-1.trace")
    text = isthmus("trace", broken).stdout
    assert f"written at: {'SIGABRT' if number == 6 else 'SIGSEGV'}" in text
    assert "receive-done" in text


def test_what_is_no_subsystem_ends_the_run_with_a_sentence(isthmus, tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_TRACE", "nets")
    done = isthmus("run", "-n", 2, "true")
    assert done.returncode == 1
    assert (
        "ISTHMUS_TRACE names 'nets', which is not a subsystem; the subsystems are all, net"
        in done.stderr
    )
