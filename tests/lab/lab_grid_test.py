"""Isthmus end to end in the lab: ranks on nodes of their own, clusters under their own MPIs."""

import subprocess
import sys

import mpis
import pytest

SIZES = {
    "hablot": ["--nodes", "2"],
    "zipper": ["--nodes", "2", "--zippers", "1"],
    "chain": ["--nodes", "1"],
    "walled": ["--nodes", "2"],
}
PROGRAMS = sorted(
    path for part in ("p2p", "coll") for path in (mpis.PROGRAMS / part).glob("*.c")
)  # fmt: skip

WHERE = """
#include <mpi.h>
#include <stdio.h>
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
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    """The program that says where its ranks are, for Open MPI."""
    folder = tmp_path_factory.mktemp("where")
    (folder / "where.c").write_text(WHERE)
    compiler = mpis.ALL["openmpi4"].cc
    subprocess.run([compiler, str(folder / "where.c"), "-o", str(folder / "where")], check=True)
    return folder / "where"


def isthmus(lab, *words):
    done = lab.exec(sys.executable, "-m", "isthmus", "run", "--timeout", "90", *words)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n--- stderr\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.parametrize("testbed", SIZES)
def test_each_rank_is_on_its_node(standing, where, testbed):
    lab = standing(testbed, *SIZES[testbed])
    lines = sorted(isthmus(lab, where).splitlines())
    sites = "abc" if testbed == "chain" else "ab"
    nodes = [f"{site}{i}" for site in sites for i in range(1, int(SIZES[testbed][1]) + 1)]
    n = len(nodes)
    assert lines == [f"{rank}/{n} {node} {n * (n - 1) // 2}" for rank, node in enumerate(nodes)]


@pytest.mark.parametrize("testbed", ["hablot", "zipper", "chain"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs(standing, testbed, program):
    lab = standing(testbed, *SIZES[testbed])
    isthmus(lab, mpis.ALL["openmpi4"].build(program, mpis.ROOT / "build" / "tests"))


@pytest.mark.parametrize("mpi", ["openmpi"])
def test_a_native_mpi_as_one_job(standing, where, mpi):
    lab = standing("hablot", *SIZES["hablot"])
    done = lab.exec(sys.executable, "-m", "isthmus", "lab", "mpirun", "--mpi", mpi, where)
    assert done.returncode == 0, done.stderr
    hosts = [f"{rank}/4 {host} 6" for rank, host in enumerate(("a1", "a2", "b1", "b2"))]
    assert sorted(done.stdout.splitlines()) == hosts


def test_a_native_mpi_needs_every_rank_to_reach_every_other(standing, where):
    lab = standing("zipper", *SIZES["zipper"])
    done = lab.exec(sys.executable, "-m", "isthmus", "lab", "mpirun", "--mpi", "openmpi", where)
    assert done.returncode == 1
    assert "cannot connect to" in done.stderr
