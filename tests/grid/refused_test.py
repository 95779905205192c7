"""What a run says of what it refuses."""

from __future__ import annotations

import subprocess

import mpis
import pytest

SESSION = """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Session session;
  int code = MPI_Session_init(MPI_INFO_NULL, argc > 1 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL,
                              &session);
  if (code == MPI_SUCCESS || session != MPI_SESSION_NULL) return 3;
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("went on with %d\\n", size);
  return MPI_Finalize();
}
"""
LIBRARIES = ["mpich4", "openmpi5", "mpich5", "mpiabi5"]


def build(name, folder):
    source = folder / "session.c"
    source.write_text(SESSION)
    program = folder / f"session-{name}"
    subprocess.run([mpis.ALL[name].cc, source, "-o", program], check=True)
    return program


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_session_ends_the_job_where_errors_do(isthmus, tmp_path, name):
    done = isthmus("run", "-n", 4, build(name, tmp_path))
    assert done.returncode != 0
    assert "MPI_Session_init: sessions across clusters are not supported yet" in done.stderr
    assert done.stderr.count("MPI_Session_init") == 1, done.stderr


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_may_go_on_without_sessions(isthmus, tmp_path, name):
    done = isthmus("run", "-n", 4, build(name, tmp_path), "go on")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == ["went on with 4"] * 4


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_the_first_refusal_of_each_function_is_told_once(isthmus, programs, name):
    program = mpis.ALL[name].build(mpis.PROGRAMS / "refused/handlers.c", programs)
    done = isthmus("run", "-n", 4, program)
    assert done.returncode == 0, done.stderr
    for function in ("MPI_File_open", "MPI_Win_create"):
        told = f"{function} returns an error to the program: "
        assert done.stderr.count(told) == 1, done.stderr
        assert f"isthmus: rank 0: {told}" in done.stderr
