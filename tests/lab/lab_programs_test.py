"""Every program over every wide-area network that tells the ways between clusters apart. Many
minutes: `make lab-grid`. lab_grid_test.py has a choice of them."""

import grids
import mpis
import pytest

TESTBEDS = ("hablot", "zipper", "chain")
LIBRARIES = (("openmpi4", "openmpi4"), ("mpich4", "mpich4"), ("openmpi4", "mpich4"))
PROGRAMS = [path for path in sorted(mpis.PROGRAMS.rglob("*.c")) if not mpis.needs_sessions(path)]

# MPICH 4.0's MPI_Comm_idup blocks inside of MPI_Test: several at once deadlock between hosts, with
# or without Isthmus.
NOT_FOR_MPICH4 = {"idup"}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("testbed", TESTBEDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_programs(standing, testbed, program):
    """Libraries and pairs of them in rotation."""
    turn = PROGRAMS.index(program) + TESTBEDS.index(testbed)
    libraries = LIBRARIES[0 if program.stem in NOT_FOR_MPICH4 else turn % 3]
    libraries = (*libraries, "openmpi4")[: len(grids.sites(testbed))]
    lab = standing(testbed, *grids.SIZES[testbed])
    grids.run(lab, testbed, libraries, program, seconds=600)
