"""Communicators of a grid file's channels, over three clusters of two libraries."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

GRID = """
[cluster.a]
[cluster.b]
[cluster.c]
[channel.near]
clusters = ["a", "b"]
[channel.again]
clusters = ["b", "a"]
[channel.lone]
clusters = ["c"]
[channel.far]
clusters = ["a", "c"]
"""
SOURCES = Path(__file__).parent / "topology"
# The world rank; the size and the sum of world ranks of its channels; MPI_COMM_NUMBER.
OF_A = "{} near 4 6 again 4 6 far 4 10 of 5"
OF_B = "{} near 4 6 again 4 6 of 4"
OF_C = "{} lone 2 9 far 4 10 of 4"


@pytest.fixture
def grid(grid_with) -> Path:
    return grid_with(GRID)


@pytest.mark.parametrize("source", ["channels.c", "channels.f90"])
@pytest.mark.parametrize("pair", [("openmpi4", "mpich4"), ("mpich4", "openmpi4")], ids="+".join)
def test_each_process_has_its_channels(isthmus, programs, grid, source, pair) -> None:
    a, b = (mpis.ALL[name].build(SOURCES / source, programs) for name in pair)
    done = isthmus.well("run", "-g", grid, *mpis.on(a=(2, a), b=(2, b), c=(2, a)))
    lines = [OF_A, OF_A, OF_B, OF_B, OF_C, OF_C]
    assert sorted(done.stdout.splitlines()) == [line.format(i) for i, line in enumerate(lines)]


def test_a_run_on_some_clusters_has_their_part_of_the_channels(isthmus, programs, grid) -> None:
    program = mpis.ALL["openmpi4"].build(SOURCES / "channels.c", programs)
    done = isthmus(
        *("run", "-g", grid, "--on", "b", "-n", 1, program),
        *(":", "--on", "c", "-n", 1, program),
    )
    expected = ["0 near 1 0 again 1 0 of 4", "1 lone 1 1 far 1 1 of 4"]
    assert sorted(done.stdout.splitlines()) == expected, done.stderr
    done = isthmus("run", "-g", grid, "--on", "a", "-n", 1, program)
    assert done.stdout == "0 of 1\n", done.stderr
