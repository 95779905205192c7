"""Which cores ranks of a lab may use."""

import os
import sys

import mpis
import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
int main(int argc, char** argv) {
  cpu_set_t cores;
  MPI_Init(&argc, &argv);
  sched_getaffinity(0, sizeof cores, &cores);
  printf("%d cores\n", CPU_COUNT(&cores));
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize("library", ["openmpi4", "openmpi5"])
def test_ranks_of_all_nodes_share_the_cores_of_the_host(standing, tmp_path, library):
    program = mpis.ALL[library].build_text(SOURCE, tmp_path / "cores")
    lab = standing("hablot", "--nodes", "1")
    words = (sys.executable, "-m", "isthmus", "run", "--timeout", 200, "-n", 2, program)
    done = lab.exec(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == [f"{len(os.sched_getaffinity(0))} cores"] * 2
