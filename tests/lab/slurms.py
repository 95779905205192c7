"""Shared parts of the tests of real Slurms: a program, and questions to a site."""

import shutil
from pathlib import Path

import mpis
import pytest

O4, O5, M4, M5 = "openmpi4", "openmpi5", "mpich4", "mpich5"
HELLO = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, sum;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  char host[64];
  gethostname(host, sizeof host);
  printf("%d/%d %s %d\\n", rank, size, host, sum);
  fflush(stdout);
  if (argc > 1) sleep(atoi(argv[1]));
  MPI_Finalize();
  return 0;
}
"""
WORLD = ["0/4 a1 6", "1/4 a2 6", "2/4 b1 6", "3/4 b2 6"]
INSTALLED = pytest.mark.skipif(
    not all(map(shutil.which, ("slurmctld", "slurmd", "srun", "munged"))),
    reason="Debian's Slurm is not installed (tools/setup/packages-slurm.txt)",
)


def built(folder: Path) -> Path:
    """HELLO of each library, by its name in the folder."""
    for mpi in (O4, O5, M4, M5):
        mpis.ALL[mpi].build_text(HELLO, folder / mpi)
    return folder


def on(lab, site: str, *words: object) -> str:
    return lab.labs(
        "exec", "--lab", lab.id, "--on", f"{site}0", "--", *words
    ).stdout  # fmt: skip


def queue(lab, site: str) -> list[str]:
    return on(lab, site, "squeue", "-h", "-o", "%T").split()
