"""Every program over every wide-area network that tells the ways between clusters apart, and where
sites only dial out. Many minutes: `make lab-grid`, `make lab-grid-relay`. lab_grid_test.py has a
choice of them."""

import grids
import mpis
import pytest

TESTBEDS = ("hablot", "zipper", "chain")
LIBRARIES = (("openmpi4", "openmpi4"), ("mpich4", "mpich4"), ("openmpi4", "mpich4"))
# They know the grid of tests/grid: its number of ranks, clusters called east and west, one host.
OF_ANOTHER_GRID = {
    "environment/by_handle", "environment/children", "file/errors", "meeting/join",
    "meeting/spawn", "progress/blocking",
}  # fmt: skip
PROGRAMS = [
    path
    for path in sorted(mpis.PROGRAMS.rglob("*.c"))
    if not mpis.needs_sessions(path) and f"{path.parent.name}/{path.stem}" not in OF_ANOTHER_GRID
]

CASES = [
    pytest.param(path, testbed, id=f"{path.parent.name}-{path.stem}-{testbed}")
    for path in PROGRAMS
    for testbed in TESTBEDS
    if grids.shares(path, grids.sites(testbed), grids.nodes(testbed))  # else it has too few nodes
]

# MPICH 4.0's MPI_Comm_idup blocks inside of MPI_Test: several at once deadlock between hosts, with
# or without Isthmus.
NOT_FOR_MPICH4 = {"idup"}


@pytest.fixture(scope="module")
def relayed(tmp_path_factory):
    """A grid file."""
    file = tmp_path_factory.mktemp("relayed") / "grid.toml"
    file.write_text(grids.RELAYED + grids.RELAY)
    return file


@pytest.mark.timeout(900)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_programs_by_a_relay(standing, relayed, program):
    """The sites cannot be dialled, so their traffic takes the relay."""
    turn = PROGRAMS.index(program)
    libraries = LIBRARIES[0 if program.stem in NOT_FOR_MPICH4 else turn % 3]
    lab = standing(*grids.WALLED_IN)
    grids.run_by_head(lab, "ac", 2, libraries, program, 600, "-g", relayed)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("program", "testbed"), CASES)
def test_programs(standing, testbed, program):
    """Libraries and pairs of them in rotation."""
    turn = PROGRAMS.index(program) + TESTBEDS.index(testbed)
    libraries = LIBRARIES[0 if program.stem in NOT_FOR_MPICH4 else turn % 3]
    libraries = (*libraries, "openmpi4")[: len(grids.sites(testbed))]
    lab = standing(testbed, *grids.SIZES[testbed])
    where = grids.sites(testbed), grids.nodes(testbed)
    grids.run_by_head(lab, *where, libraries, program, 600)
