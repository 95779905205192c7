"""The errors of a run that is refused."""

from __future__ import annotations

import mpis
import pytest

LATE = """\
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  return 0;
}
"""
LIBRARIES = ["mpich4", "openmpi5", "mpich5", "mpiabi5"]


def build(name, folder):
    return mpis.ALL[name].build_text(LATE, folder / f"session-{name}")


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_session_after_the_end_of_the_grid_is_refused(isthmus, tmp_path, name):
    done = isthmus("run", "-n", 2, build(name, tmp_path))
    assert done.returncode != 0
    assert "MPI_Session_init: MPI_Finalize has ended this process's part in the grid" in done.stderr


@pytest.mark.parametrize("name", ["mpich4", "mpich5"])
def test_the_first_refusal_of_each_function_is_told_once(isthmus, programs, name):
    program = mpis.ALL[name].build(mpis.PROGRAMS / "refused/handlers.c", programs)
    done = isthmus.well("run", "-n", 4, program)
    for function in ("MPIX_Comm_revoke",):
        told = f"{function} returns an error to the program: "
        assert done.stderr.count(told) == 1, done.stderr
        assert f"isthmus: rank 0: {told}" in done.stderr


@pytest.mark.parametrize("errors", ["fatal", "returned"])
def test_a_shared_buffer_that_some_libraries_refuse_is_an_error(isthmus, programs, errors):
    """Open MPI's ranks would take it: no rank goes on with a wrong result."""
    source = mpis.PROGRAMS / "coll" / "aliased.c"
    east, west = (mpis.ALL[name].build(source, programs) for name in ("openmpi4", "mpich4"))
    parts = ["--on", "east", "-n", 2, east, errors, ":", "--on", "west", "-n", 1, west, errors]
    done = isthmus("run", *parts)
    if errors == "returned":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0
        assert "the send buffer is the receive buffer" in done.stderr
