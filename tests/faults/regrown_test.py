"""A spare cluster that has come fails as others do: by its gateway, or by its link."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, says
from running import Running

REGROW = Path(__file__).parents[1] / "grid/growing/regrow.c"
CLUSTERS = "[cluster.a]\n[cluster.b]\n[cluster.c]\nspare = true\n"


def until(running: Running, words: str) -> str:
    line = running.stderr.readline()
    while words not in line:
        assert line, f"it never says {words}"
        line = running.stderr.readline()
    return str(line)


@pytest.mark.parametrize(
    ("how", "why"),
    [(signal.SIGKILL, "gateway of cluster c: the agent was killed"), (signal.SIGSTOP, "is lost")],
)
def test_gateways_that_came_later_are_lost(grid: Grid, how: signal.Signals, why: str) -> None:
    """One is killed, and one is not heard within the links' patience. The program goes on with
    processes in the cluster that it has lost first."""
    program = grid.folder / "regrow"
    subprocess.run([COMPILERS["ompi"], "-o", program, REGROW], check=True)
    grid.write(f'patience = "3s"\n{CLUSTERS}')
    words = ["--survive", "-g", "grid.toml", "-n", 4, program, "b:c", "nobody:b"]
    with grid.start(*words) as running:
        says(running, "up\n")
        gateway = grid.gateway()
        os.kill(gateway, how)
        assert why in until(running, 'cluster "c/1" has failed')
        until(running, 'cluster "b" is back')
        out, _ = running.communicate(timeout=240)
    assert (running.returncode, out) == (0, "4 ranks, sum 6\n")


@pytest.fixture(scope="module")
def regrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("regrow") / "regrow"
    subprocess.run([COMPILERS["mpich"], "-o", program, REGROW], check=True)
    return program


@pytest.mark.parametrize("reach", ["gateway", "ssh"])
def test_a_spare_cluster_by_ssh(remote: Grid, prefix: Path, regrow: Path, reach: str) -> None:
    """It comes, is lost with the ssh that holds it, and comes back."""
    site = f"host = 'site'\nprefix = '{prefix}'\nspare = true\n"
    links = "".join(f"[[link]]\nbetween = {[a, 'c']}\nreach = '{reach}'\n" for a in "ab")
    direct = "[[link]]\nbetween = ['a', 'b']\n"
    remote.write(f"[cluster.a]\n[cluster.b]\n[cluster.c]\n{site}{links}{direct}")
    words = ["--survive", "-g", "grid.toml", "-n", 4, regrow, "b:c", "nobody:c"]
    with remote.start(*words) as running:
        says(running, "up\n")
        (ssh,) = remote.find("ssh -F", "isthmusd", " gateway")
        os.kill(ssh, signal.SIGKILL)
        until(running, 'cluster "c/1" has failed: gateway of cluster c on site: ')
        assert "2 processes run there" in until(running, 'cluster "c" is back')
        out, err = running.communicate(timeout=240)
    assert (running.returncode, out) == (0, "4 ranks, sum 6\n"), err


def test_a_cluster_of_several_agents_fails_and_comes_back(
    remote: Grid, prefix: Path, regrow: Path
) -> None:
    """Its ranks are here, and its gateways on two other hosts. First its ranks end. Then one
    gateway is lost, and when the other is, too, the cluster has failed."""
    gateways = "".join(f"[[gateway]]\ncluster = 'b'\nhost = '{h}'\n" for h in ("site", "behind"))
    remote.write(f"[cluster.a]\n[cluster.b]\nprefix = '{prefix}'\n[cluster.c]\n{gateways}")
    words = ["--survive", "-g", "grid.toml", "-n", 6, regrow, "b:b", "nobody:b"]
    with remote.start(*words) as running:
        assert "3 clusters" not in until(running, 'cluster "b" has failed')
        assert "2 processes run there" in until(running, 'cluster "b" is back')
        says(running, "up\n")
        first, second = remote.find("ssh -F", "isthmusd", " gateway")
        os.kill(first, signal.SIGKILL)
        assert "the other gateways of the cluster go on" in until(running, "gateway of cluster b")
        os.kill(second, signal.SIGKILL)
        until(running, 'cluster "b/1" has failed: gateway of cluster b on ')
        assert "2 processes run there" in until(running, 'cluster "b" is back')
        out, err = running.communicate(timeout=240)
    assert (running.returncode, out) == (0, "6 ranks, sum 15\n"), err


def test_the_host_of_the_first_cluster_is_lost(remote: Grid, prefix: Path, regrow: Path) -> None:
    """It has world rank 0. The launcher and the other clusters are elsewhere."""
    remote.write(f"[cluster.a]\nhost = 'site'\nprefix = '{prefix}'\n[cluster.b]\n[cluster.c]\n")
    with remote.start("--survive", "-g", "grid.toml", "-n", 6, regrow, "nobody:c") as running:
        says(running, "up\n")
        (ssh,) = remote.find("ssh -F", "isthmusd", " agent")
        os.kill(ssh, signal.SIGKILL)
        assert "2 clusters go on" in until(running, 'cluster "a" has failed: cluster a on site: ')
        out, err = running.communicate(timeout=240)
    assert (running.returncode, out) == (0, "6 ranks, sum 15\n"), err


def asked(grid: Grid, running: Running, command: str, *words: object) -> str:
    """The output of another command about the run."""
    line = [sys.executable, "-m", "isthmus", command, str(running.pid), *map(str, words)]
    return subprocess.run(
        line, env=grid.environment, check=True, stdout=subprocess.PIPE, text=True, timeout=240
    ).stdout


def test_a_cluster_joins_by_ssh(remote: Grid, prefix: Path, regrow: Path) -> None:
    """All was on this host before, so gateways listened for it alone. One of another host joins. It
    may fail as the others may, and comes back."""
    remote.write("[cluster.a]\n[cluster.b]\n")
    more = remote.folder / "more.toml"
    more.write_text(f"[cluster.c]\nhost = 'site'\nprefix = '{prefix}'\n")
    turns = ["nobody:c", "nobody:c"]
    with remote.start("--survive", "-g", "grid.toml", "-n", 4, regrow, *turns) as running:
        says(running, "up\n")
        ranks = json.loads(asked(remote, running, "ps", "--json"))
        asked(remote, running, "join", "-g", more)
        until(running, 'cluster "c" has joined')
        os.kill(next(rank["pid"] for rank in ranks if rank["cluster"] == "b"), signal.SIGKILL)
        until(running, 'cluster "b" has failed')
        assert "2 processes run there" in until(running, 'cluster "c" has come')
        says(running, "up\n")
        (ssh,) = remote.find("ssh -F", "isthmusd", " gateway")
        os.kill(ssh, signal.SIGKILL)
        until(running, 'cluster "c/1" has failed: gateway of cluster c on site: ')
        assert "2 processes run there" in until(running, 'cluster "c" is back')
        out, err = running.communicate(timeout=240)
    assert (running.returncode, out) == (0, "4 ranks, sum 6\n"), err
