"""A channel over chosen hosts of two clusters."""

import sys

import grids
import mpis

GRID = """
[cluster.a]
host = "a0"
hosts = "a[1-2]"
[cluster.b]
host = "b0"
hosts = "b[1-2]"
[channel.some]
hosts = "a2,b1"
[channel.most]
clusters = ["b"]
hosts = "a1"
"""


def test_ranks_on_the_hosts_are_in_the_channel(lab, grid_with) -> None:
    grid = grid_with(GRID)
    source = mpis.ROOT / "tests" / "grid" / "topology" / "channels.c"
    program = mpis.ALL["openmpi4"].build(source, grids.BUILT)
    run = [sys.executable, "-m", "isthmus", "run", "--timeout", 200, "-g", grid, "-n", 4, program]
    done = lab("run", "hablot", "--", *run)
    assert sorted(done.stdout.splitlines()) == [
        "0 most 3 5 of 3",
        "1 some 2 3 of 3",
        "2 some 2 3 most 3 5 of 4",
        "3 most 3 5 of 3",
    ], done.stderr
