"""Programs that end, or close what uses MPI, in unusual ways."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

ENDINGS = Path(__file__).parent / "endings"
LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5"]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("when", ["early", "late"])
def test_mpi_is_called_after_main(isthmus, programs, library: str, when: str) -> None:
    program = mpis.ALL[library].build(ENDINGS / "at_exit.c", programs)
    done = isthmus("run", "-n", 4, program, when)
    assert (done.returncode, done.stderr) == (0, "")


# Natively this ends the program where the library leaves with its user, as Open MPI 5 and MPICH do.
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("steps", ["obwec", "obwcowcowec"])
def test_a_library_that_uses_mpi_is_closed(isthmus, tmp_path, library: str, steps: str) -> None:
    mpi = mpis.ALL[library]
    source = ENDINGS / "opened.c"
    shared = ["-shared", "-fPIC", "-DLIBRARY"]
    opened = mpis.compile_to(tmp_path / "libopened.so", mpi.cc, *shared, source)
    program = mpis.compile_to(tmp_path / "opens", "cc", source, "-ldl")
    family = Path(mpi.cc).parents[1] if library.endswith("5") else library.rstrip("4")
    done = isthmus("run", "--mpi", family, "-n", 4, program, opened, steps)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_thread_that_waits_is_cancelled(isthmus, programs, library: str) -> None:
    program = mpis.ALL[library].build(ENDINGS / "cancelled.c", programs)
    done = isthmus("run", "-n", 4, program)
    assert (done.returncode, done.stderr) == (0, "")
