"""Gateways that stand in two clusters, and clusters that only forward."""

import os
import signal

import pytest
from faulty import Grid, check, goes_on_without_one_gateway, says

BOTH = "[[gateway]]\nclusters = ['east', 'west']\n"
TWO = "[cluster.east]\n[cluster.west]\n"
CHAIN = (
    "[cluster.east]\n[cluster.middle]\n[cluster.west]\n[[link]]\nbetween = ['east', 'middle']\n"
    "[[link]]\nbetween = ['middle', 'west']\n"
)


def rows(text: str, words: str) -> list[str]:
    return [line for line in text.splitlines() if words in line and "│" in line]


@pytest.mark.parametrize("count", [1, 2])
def test_everybody_with_everybody(grid: Grid, exchange, count):
    grid.write(TWO + count * BOTH)
    done = grid.run("-g", "grid.toml", "-n", 4, "--stats", "--timeout", 200, exchange)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 bytes wrong\n"), done.stderr
    crossed = rows(done.stderr, "east -> west, by east+west")
    assert len(crossed) == count, done.stderr
    assert sum(int(row.split("│")[3]) for row in crossed) > 2_000_000
    assert not rows(done.stderr, "east/"), "no link between gateways"


def test_it_is_with_a_gateway_of_one_cluster(grid: Grid, exchange):
    """That one is linked with it, and carries nothing while it is there."""
    grid.write(TWO + BOTH + "[[gateway]]\ncluster = 'east'\n")
    done = grid.run("-g", "grid.toml", "-n", 4, "--stats", "--timeout", 200, exchange)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 bytes wrong\n"), done.stderr
    (row,) = rows(done.stderr, "east -> east+west")
    assert int(row.split("│")[2]) == 0, done.stderr


@pytest.mark.parametrize(("mode", "status"), [("abort", 42), ("kill", 137)])
def test_what_a_rank_does_is_told_to_all(grid: Grid, program, mode, status):
    grid.write(TWO + BOTH)
    done = grid.run("-g", "grid.toml", "-n", 4, "--timeout", 200, program("ompi"), mode, 3)
    check(done, status, "rank 3")


def test_the_only_one_is_killed(remote: Grid, prefix, program, tmp_path):
    remote.write(f"[cluster.east]\nprefix = '{prefix}'\n[cluster.west]\n{BOTH}host = 'site'\n")
    words = ["-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, tmp_path / "bell"]
    with remote.start(*words) as running:
        says(running, "up 4\n")
        victim = remote.gateway()
        os.kill(victim, signal.SIGKILL)
        _, err = running.communicate(timeout=240)
    assert running.returncode != 0
    assert "gateway of clusters east and west on site" in err, err


def test_one_of_two_is_killed_and_the_other_goes_on(remote: Grid, prefix, program, tmp_path):
    remote.write(
        f"[cluster.east]\nprefix = '{prefix}'\n[cluster.west]\n{BOTH}{BOTH}host = 'site'\n"
    )
    goes_on_without_one_gateway(remote, program("ompi"), tmp_path / "bell")


def test_a_cluster_without_ranks_forwards(grid: Grid, exchange):
    grid.write(CHAIN)
    words = ["--on", "east", "-n", 2, exchange, ":", "--on", "west", "-n", 2, exchange]
    done = grid.run("-g", "grid.toml", "--stats", "--timeout", 200, *words)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 bytes wrong\n"), done.stderr
    assert rows(done.stderr, "east -> middle")
    assert rows(done.stderr, "middle -> west")


def test_two_links_carry(grid: Grid, exchange):
    """The links from one gateway of the one cluster to the two of the other."""
    grid.write(
        TWO + 2 * "[[gateway]]\ncluster = 'west'\n" + 2 * "[[link]]\nbetween = ['east', 'west']\n"
    )
    done = grid.run("-g", "grid.toml", "-n", 4, "--stats", "--timeout", 200, exchange)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 bytes wrong\n"), done.stderr
    for ends in ("east -> west/0", "east -> west/1"):
        (row,) = rows(done.stderr, ends)
        assert int(row.split("│")[3]) > 500_000, done.stderr
