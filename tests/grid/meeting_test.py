"""Spawned processes end in several ways, and the others hear of it."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

DIES = Path(__file__).parent / "meeting" / "dies.c"
LIBRARIES = ["openmpi4", "mpich5"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_child_that_exits_ends_the_run_with_its_status(isthmus, programs, name):
    done = isthmus("run", "-n", 2, mpis.ALL[name].build(DIES, programs), "exits")
    assert done.returncode == 4, done.stderr
    assert '(cluster "west/1") ended without MPI_Finalize' in done.stderr


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_child_that_aborts_ends_the_run_with_its_code(isthmus, programs, name):
    done = isthmus("run", "-n", 2, mpis.ALL[name].build(DIES, programs), "aborts")
    assert done.returncode == 5, done.stderr
    assert "rank 2 called MPI_Abort with code 5" in done.stderr


@pytest.mark.parametrize("pair", [("openmpi4", "openmpi4"), ("openmpi4", "mpich4")])
def test_children_know_the_universe_of_their_parents(isthmus, programs, pair):
    """Which the program checks of all that it spawns; libraries count differently."""
    source = mpis.PROGRAMS / "meeting" / "spawn.c"
    east, west = (mpis.ALL[name].build(source, programs) for name in pair)
    isthmus.well("run", "--on", "east", "-n", 1, east, ":", "--on", "west", "-n", 1, west)


@pytest.mark.parametrize("name", LIBRARIES)
def test_children_may_outlive_their_parents(isthmus, programs, name):
    done = isthmus.well("run", "-n", 2, mpis.ALL[name].build(DIES, programs), "outlives")
    assert "the children are alone" in done.stdout


def test_children_of_a_run_with_metrics(isthmus, programs):
    isthmus.well("run", "--metrics", 0, "-n", 2, mpis.ALL["mpich5"].build(DIES, programs), "ends")


@pytest.mark.parametrize("name", LIBRARIES)
def test_both_may_end_while_they_are_connected(isthmus, programs, name):
    isthmus.well("run", "-n", 2, mpis.ALL[name].build(DIES, programs), "ends")
