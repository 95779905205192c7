"""Processes are spawned in spare clusters, and in clusters that have failed."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

GROWING = Path(__file__).parent / "growing"
GRID = "".join(f"[cluster.{name}]\nslots = 2\n" for name in ("east", "west", "south"))
LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpiabi5"]


@pytest.fixture
def grid(grid_with) -> Path:
    return grid_with(GRID)


def regrow(isthmus, grid: Path, program: Path, *turns: str, n: int = 4, spare: str = "south"):
    done = isthmus.well(
        *["run", "--survive", "--spare", spare, "-g", grid, "-n", n, program, *turns], timeout=150
    )
    assert done.stdout == f"{n} ranks, sum {n * (n - 1) // 2}\n"
    return done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_losses_are_replaced(isthmus, programs, grid, library: str) -> None:
    """In a spare cluster. Then that fails, too, and its processes come back."""
    program = mpis.ALL[library].build(GROWING / "regrow.c", programs)
    said = regrow(isthmus, grid, program, "west:south", "south:south", "south:west")
    for line in (
        'cluster "west" has failed: ',
        'cluster "south" has come: 2 processes run there as cluster "south/1"',
        'cluster "south/1" has failed: ',
        'cluster "south" is back: 2 processes run there as cluster "south/2"',
        'cluster "west" is back: 2 processes run there as cluster "west/3"',
    ):
        assert line in said
    assert said.count("go on") + said.count("goes on") == 3


@pytest.mark.parametrize(("library", "times"), [("mpich4", [0, 300, 350]), ("openmpi4", [0, 600])])
def test_new_processes_fail_before_they_have_connected(
    isthmus, programs, grid, library: str, times: list[int]
) -> None:
    grid.write_text(GRID + "[cluster.north]\nslots = 2\n")
    program = mpis.ALL[library].build(GROWING / "stillborn.c", programs)
    words = [1000 * time for time in times]
    done = isthmus(
        *["run", "--survive", "--spare", "west,south", "-g", grid, "-n", 4, program, *words],
        timeout=150,
    )
    assert (done.returncode, done.stdout) == (0, "4 parents go on\n"), done.stderr


@pytest.mark.parametrize(("first", "second"), mpis.MIXED)
def test_libraries_are_mixed(isthmus, programs, grid, first: str, second: str) -> None:
    grid.write_text(GRID)
    east, west = (mpis.ALL[one].build(GROWING / "regrow.c", programs) for one in (first, second))
    turns = ["west:south", "south:west"]
    words = ["--on", "east", "-n", 2, east, *turns, ":", "--on", "west", "-n", 2, west, *turns]
    done = isthmus("run", "--survive", "--spare", "south", "-g", grid, *words, timeout=150)
    assert (done.returncode, done.stdout) == (0, "4 ranks, sum 6\n"), done.stderr


@pytest.mark.parametrize("library", ["openmpi5", "mpich4"])
def test_the_first_cluster_comes_back(isthmus, programs, grid, library: str) -> None:
    """World rank 0 is lost, and one cluster is left for a while."""
    program = mpis.ALL[library].build(GROWING / "regrow.c", programs)
    said = regrow(isthmus, grid, program, "east:east", "west:east")
    assert 'cluster "east" is back: ' in said


def test_spawns_that_fail_say_why(isthmus, programs, grid) -> None:
    grid.write_text(GRID + "[cluster.north]\nprefix = '/nowhere'\nspare = true\n")
    program = mpis.ALL["openmpi4"].build(GROWING / "refuses.c", programs)
    words = ["suoth", "did you mean 'south'", "north", "/nowhere", "south", "", "north", "/nowhere"]
    for survive in ([], ["--survive"]):
        options = ["--spare", "south", *survive, "-g", grid, "-n", 4]
        done = isthmus.well("run", *options, program, *words, timeout=100)
        assert 'cluster "south" has come: 1 process runs there' in done.stderr
