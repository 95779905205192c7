"""A path that takes smaller packets than the hosts' MTU, and does not say so."""

import json
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def narrow(standing):
    lab = standing("hablot", "--nodes", "1")
    for here, there in ("ab", "ba"):
        script = (
            "iptables -A OUTPUT -p icmp --icmp-type fragmentation-needed -j DROP && "
            f"ip link set wan-{there} mtu 600"
        )
        words = ["nsenter", f"--net={lab.labs.home}/{lab.id}/ns/switch-{here}.net", "sh", "-c"]
        done = lab.labs("exec", "--lab", lab.id, "--", *words, script)
        assert done.returncode == 0, done.stderr
    return lab


def test_doctor_says_that_full_sized_packets_do_not_pass(narrow):
    done = narrow.exec(sys.executable, "-m", "isthmus", "doctor", "--json")
    findings = json.loads(done.stdout)["findings"]
    (mtu,) = [f for f in findings if f["what"] == "MTU"]
    assert mtu["level"] == "warn"
    assert "a0" in mtu["text"]
    assert "opens, but full-sized packets do not pass" in mtu["text"]
    assert "ICMP" in mtu["remedy"]
    assert not [f for f in findings if f["level"] == "fail"], done.stdout


PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  enum { kSmall = 2000, kBytes = 1000000 };
  for (int i = 0; i < kSmall; ++i) { /* small messages do not show whether large packets pass */
    int got = i;
    MPI_Sendrecv(&i, 1, MPI_INT, size - 1 - rank, 0, &got, 1, MPI_INT, size - 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != i) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  char* data = calloc(kBytes, 1);
  if (rank == 0) data[kBytes - 1] = 7;
  MPI_Bcast(data, kBytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (data[kBytes - 1] != 7) MPI_Abort(MPI_COMM_WORLD, 4);
  if (rank == 0) puts("all arrived");
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize(
    ("compiler", "reach"), [("mpicc.openmpi", "gateway"), ("mpicc.mpich", "direct")]
)
def test_a_run_goes_on_with_small_segments(narrow, tmp_path, compiler, reach):
    (tmp_path / "program.c").write_text(PROGRAM)
    build = [compiler, tmp_path / "program.c", "-o", tmp_path / "program"]
    subprocess.run(build, check=True, capture_output=True)
    words = ["env", f"ISTHMUS_REACH={reach}", sys.executable, "-m", "isthmus", "run"]
    done = narrow.exec(*words, "--timeout", 200, "-n", 2, tmp_path / "program")
    assert (done.returncode, done.stdout) == (0, "all arrived\n"), done.stderr
    if reach == "gateway":
        said = " ".join(done.stderr.split())
        assert "opens but full-sized packets do not pass" in said
