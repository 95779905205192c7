"""A cluster fails while the others are in calls that need it: `isthmus run --survive`."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest

LOSING = Path(__file__).parent / "failing" / "losing.c"
LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5"]
CALLS = re.findall(r'^    \{"(\w+)", ', LOSING.read_text(), re.MULTILINE)
GRID = "[cluster.east]\n[cluster.west]\n[cluster.south]\n"


def library_for(call: str) -> str:
    """Each call meets one library, and each library calls of every kind."""
    if call == "partitioned_recv":
        return "mpich5"
    return LIBRARIES[CALLS.index(call) % len(LIBRARIES)]


def lose(isthmus, programs: Path, folder: Path, library: str, *words: str):
    grid = folder / "grid.toml"
    grid.write_text(GRID)
    program = mpis.ALL[library].build(LOSING, programs)
    return isthmus("run", "--survive", "-g", grid, "-n", 6, program, *words, timeout=100)


@pytest.mark.parametrize("call", CALLS)
def test_who_needs_a_failed_cluster_gets_an_error(isthmus, programs, tmp_path, call: str) -> None:
    done = lose(isthmus, programs, tmp_path, library_for(call), call)
    said = [line for line in done.stderr.splitlines() if line.startswith("rank ")]
    assert (done.returncode, said) == (0, []), done.stdout + done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_fatal_error_ends_all_with_the_cause(isthmus, programs, tmp_path, library: str) -> None:
    done = lose(isthmus, programs, tmp_path, library, "recv", "fatal")
    assert done.returncode != 0
    assert re.search(r"MPI_(Recv|Barrier) failed on .*west", done.stderr), done.stderr
