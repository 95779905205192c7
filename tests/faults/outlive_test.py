"""A cluster fails, and the run goes on without it: `isthmus run --survive`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, says
from running import Running
from waiting import eventually

MESH = "".join(
    f'[[link]]\nbetween = ["{a}", "{b}"]\n' for a, b in (("a", "b"), ("b", "c"), ("a", "c"))
)
CLUSTERS = "[cluster.a]\n[cluster.b]\n[cluster.c]\n"
GRIDS = {
    "mesh": CLUSTERS + MESH,
    "one gateway": CLUSTERS + '[[gateway]]\nclusters = ["a", "b", "c"]\n',
    "threads": CLUSTERS + '[[gateway]]\ncluster = "a"\nthreads = 2\n' + MESH,
}


def built(library: str, folder: Path) -> Path:
    program = folder / f"outlive.{library}"
    source = Path(__file__).with_name("outlive.c")
    subprocess.run([COMPILERS[library], "-o", program, source], check=True)
    return program


def parent(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1])


def agent_of(pid: int) -> int:
    """The agent that has started this rank."""
    while " agent" not in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "):
        pid = parent(pid)
    return pid


def is_alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if is_alive(pid)]


def start(grid: Grid, kind: str, library: str, *options: object) -> tuple[Running, list[int]]:
    """A run of two ranks in each of three clusters, and the processes of its ranks."""
    grid.write(GRIDS[kind])
    program = built(library, grid.folder)
    running = grid.start(*options, "-g", "grid.toml", "-n", 6, program, grid.folder)
    says(running, "up 6\n")
    return running, [int((grid.folder / str(rank)).read_text()) for rank in range(6)]


@pytest.mark.parametrize("library", ["mpich", "ompi"])
@pytest.mark.parametrize("kind", GRIDS)
@pytest.mark.parametrize("victim", ["rank", "agent"])
def test_the_others_go_on(grid: Grid, kind: str, library: str, victim: str) -> None:
    running, ranks = start(grid, kind, library, "--survive")
    with running:
        os.kill(ranks[2] if victim == "rank" else agent_of(ranks[2]), signal.SIGKILL)
        line = running.stderr.readline()
        assert line.startswith('isthmus: cluster "b" has failed: '), line
        assert line.endswith("; 2 clusters go on\n"), line
        eventually(lambda: not alive(ranks[2:4]), "that the ranks of the failed cluster are gone")
        assert alive(ranks) == ranks[:2] + ranks[4:]
        (grid.folder / "bell").touch()
        _, err = running.communicate(timeout=240)
    assert (running.returncode, err) == (0, "")


def test_an_agent_stays_whose_gateway_the_others_need(grid: Grid) -> None:
    running, ranks = start(grid, "one gateway", "mpich", "--survive")
    with running:
        agent = agent_of(ranks[0])
        os.kill(ranks[0], signal.SIGKILL)
        assert 'cluster "a" has failed' in running.stderr.readline()
        eventually(lambda: not alive(ranks[:2]), "that the ranks of the failed cluster are gone")
        assert alive([agent])
        (grid.folder / "bell").touch()
        _, err = running.communicate(timeout=240)
    assert (running.returncode, err) == (0, "")


def test_too_few_are_left(grid: Grid) -> None:
    running, ranks = start(grid, "mesh", "mpich", "--survive", "--min-clusters", 3)
    with running:
        os.kill(ranks[2], signal.SIGKILL)
        _, err = running.communicate(timeout=240)
    assert running.returncode != 0
    # Hydra ends the other rank, too. Its end may be reported first.
    assert re.search(r'rank [23] \(cluster "b"\)', err), err
    assert "has failed" not in err
