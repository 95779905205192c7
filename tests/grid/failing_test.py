"""A cluster fails while the others are in calls that need it: `isthmus run --survive`."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest

LOSING = Path(__file__).parent / "failing" / "losing.c"
LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5"]
ALONE, ALL = (
    re.findall(r'^    \{"(\w+)", ', part, re.MULTILINE)
    for part in LOSING.read_text().partition("} calls[] = {")[2].split("/* By all. */")
)
PARTITIONED = "partitioned_recv"  # of MPI 4
# Their schedules are those of others, too: with --all-libraries only.
ALIKE = {"reduce", "scatter", "allgather", "allgatherv", "reduce_scatter", "ibarrier"}
GRID = "[cluster.east]\n[cluster.west]\n[cluster.south]\n"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "call" in metafunc.fixturenames:
        left_out = set() if metafunc.config.getoption("--all-libraries") else ALIKE
        metafunc.parametrize("call", [call for call in ALL if call not in left_out])


def lose(isthmus, programs: Path, folder: Path, library: str, *words: str, ranks: int = 6):
    grid = folder / "grid.toml"
    grid.write_text(GRID)
    program = mpis.ALL[library].build(LOSING, programs)
    return isthmus("run", "--survive", "-g", grid, "-n", ranks, program, *words, timeout=240)


def expect_errors(done) -> None:
    said = [line for line in done.stderr.splitlines() if line.startswith("rank ")]
    assert (done.returncode, said) == (0, []), done.stdout + done.stderr


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_rank_that_needs_a_failed_cluster_gets_an_error(
    isthmus, programs, tmp_path, library: str, part: int
) -> None:
    """Half of the calls, each by another rank of the two clusters that live."""
    calls = [call for call in ALONE if call != PARTITIONED or library == "mpich5"][part::2]
    expect_errors(lose(isthmus, programs, tmp_path, library, ",".join(calls), ranks=18))


def test_all_that_need_a_failed_cluster_get_an_error(
    isthmus, programs, tmp_path, call: str
) -> None:
    """Each call meets one library, and each library calls of every kind."""
    library = LIBRARIES[ALL.index(call) % len(LIBRARIES)]
    expect_errors(lose(isthmus, programs, tmp_path, library, call))


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_a_collective_ends_well_whose_data_came_before_the_failure(
    isthmus, programs, grid_with, library: str
) -> None:
    grid = grid_with(GRID)
    program = mpis.ALL[library].build(LOSING.parent / "came_first.c", programs)
    done = isthmus("run", "--survive", "-g", grid, "-n", 3, program, "west", timeout=120)
    assert (done.returncode, done.stdout) == (0, "it came\n" * 2), done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_large_send_ends_although_its_receiver_has_freed_the_revoked_communicator(
    isthmus, programs, library: str
) -> None:
    program = mpis.ALL[library].build(LOSING.parent / "parting.c", programs)
    done = isthmus("run", "--survive", "-n", 4, program, timeout=120)
    assert (done.returncode, done.stdout) == (0, "4 ranks go on\n"), done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("source", "ranks", "said"),
    [
        ("left.c", 4, "4 ranks go on\n"),  # the other rank calls MPI no more
        ("own.c", 2, "2 ranks go on\n"),  # messages to itself
        ("begun.c", 4, "4 go on\n"),  # the call that completes a request has the error
    ],
)
def test_messages_on_a_revoked_communicator_end(
    isthmus, programs, library: str, source: str, ranks: int, said: str
) -> None:
    program = mpis.ALL[library].build(LOSING.parent / source, programs)
    done = isthmus("run", "--survive", "-n", ranks, program, timeout=120)
    assert (done.returncode, done.stdout) == (0, said), done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_cluster_fails_with_the_process_that_has_started_its_ranks(
    isthmus, programs, grid_with, library: str
) -> None:
    program = mpis.ALL[library].build(LOSING.parent / "daemon.c", programs)
    done = isthmus("run", "--survive", "-g", grid_with(GRID), "-n", 6, program, timeout=60)
    assert (done.returncode, done.stdout) == (0, "4 of 6 go on\n"), done.stderr


@pytest.mark.parametrize("library", ["openmpi4", "mpich5"])
def test_a_fatal_error_ends_all_with_the_cause(isthmus, programs, tmp_path, library: str) -> None:
    done = lose(isthmus, programs, tmp_path, library, "recv", "fatal")
    assert done.returncode != 0
    assert re.search(r"MPI_(Recv|Barrier) failed on .*west", done.stderr), done.stderr
