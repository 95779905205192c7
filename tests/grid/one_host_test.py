"""Clusters on one host: their processes share memory without a gateway, or with gateways there."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from refused_calls import refused
from running import Running

GRID = """
[cluster.east]
[cluster.west]
[[link]]
between = ["east", "west"]
{reach}
"""

TALK = r"""
import os, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
other = (world.rank + world.size // 2) % world.size
os.write(1, f"{world.rank} {os.getpid()}\n".encode())
data = bytearray(300_000)
for i in range(int(sys.argv[1])):
    data[i % len(data)] = world.rank
    back = world.sendrecv(bytes(data), other, i, None, other, i)
    assert back[i % len(data)] == other
"""


def crossed(stats: str) -> tuple[int, Counter[str]]:
    """Bytes of the program that crossed the gateways, and those of each other leg, by --stats."""
    by_gateways = re.findall(r"│ \w+ -> \w+(?:, memory)? +│ +\d+ │ +(\d+) │", stats)
    directly = re.findall(r"│ \w+ -> \w+, (.+) \(\d+\) +│ +\d+ │ +(\d+) │", stats)
    legs: Counter[str] = Counter()
    for leg, size in directly:
        legs[leg] += int(size)
    return sum(map(int, by_gateways)), legs


def talk(folder: Path) -> Path:
    program = folder / "talk.py"
    program.write_text(TALK)
    return program


@pytest.mark.parametrize(
    ("reach", "leg"),
    [("", "memory"), ('reach = "direct"', "direct"), ('reach = "gateway"', None)],
)
def test_gateways_carry_nothing_unless_the_link_says_so(isthmus, tmp_path, reach, leg, grid_with):
    grid = grid_with(GRID.format(reach=reach))
    python = mpis.ALL["mpich5"].python
    done = isthmus.well("run", "-g", grid, "-n", 4, "--stats", python, talk(tmp_path), 100)
    gateways, directly = crossed(done.stderr)
    if leg:  # the first messages go by the gateways, until the conduits stand
        assert gateways + directly[leg] >= 4 * 100 * 300_000, done.stderr
        assert directly[leg] > 4 * gateways, done.stderr
    else:
        assert gateways >= 4 * 100 * 300_000, done.stderr
        assert not directly, done.stderr


def test_the_environment_says_it_where_the_grid_file_does_not(isthmus, tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_REACH", "gateway")
    python = mpis.ALL["mpich5"].python
    done = isthmus.well("run", "-n", 2, "--stats", python, talk(tmp_path), 20)
    assert not crossed(done.stderr)[1]

    monkeypatch.setenv("ISTHMUS_REACH", "memory")
    done = isthmus("run", "-n", 2, python, talk(tmp_path), 20)
    assert done.returncode == 2
    assert "ISTHMUS_REACH is 'memory'" in done.stderr


def shared(stats: str) -> tuple[int, dict[str, str]]:
    """Links whose gateways share memory, and ranks that share it with their gateway, by --stats."""
    links = re.findall(r"│ \w+ -> \w+, memory +│", stats)
    return len(links), dict(re.findall(r"│ \w+ -> (\w+)'s ranks, memory \((.+)\) +│", stats))


@pytest.mark.parametrize("leg", ["memory", "socket"])
def test_gateways_share_memory_with_ranks_and_each_other(isthmus, tmp_path, monkeypatch, leg):
    monkeypatch.setenv("ISTHMUS_REACH", "gateway")
    monkeypatch.setenv("ISTHMUS_DEBUG_LEG", leg)
    python = mpis.ALL["mpich5"].python
    done = isthmus.well("run", "-n", 4, "--stats", python, talk(tmp_path), 20)
    assert crossed(done.stderr)[0] >= 4 * 20 * 300_000, done.stderr
    links, ranks = shared(done.stderr)
    both = {"east": "2 of 2", "west": "2 of 2"}
    assert (links, ranks) == ((2, both) if leg == "memory" else (0, {})), done.stderr


def test_a_link_that_names_a_network_keeps_its_sockets(isthmus, tmp_path, grid_with):
    grid = grid_with(GRID.format(reach='reach = "gateway"\nrate = "10 Gbit/s"'))
    python = mpis.ALL["mpich5"].python
    done = isthmus.well("run", "-g", grid, "-n", 2, "--stats", python, talk(tmp_path), 20)
    assert shared(done.stderr) == (0, {"east": "1 of 1", "west": "1 of 1"}), done.stderr


def test_a_gateway_that_only_forwards_shares_memory_too(isthmus, tmp_path):
    grid = tmp_path / "grid.toml"
    links = "".join(
        f'[[link]]\nbetween = ["{end}", "middle"]\nreach = "gateway"\n' for end in ("east", "west")
    )
    grid.write_text(f"[cluster.east]\n[cluster.middle]\n[cluster.west]\n{links}")
    words = [mpis.ALL["mpich5"].python, talk(tmp_path), 20]
    ends = mpis.on(east=(1, *words), west=(1, *words))
    done = isthmus.well("run", "-g", grid, "--stats", *ends)
    assert shared(done.stderr) == (4, {"east": "1 of 1", "west": "1 of 1"}), done.stderr


def test_a_leg_that_is_none_is_named(isthmus, monkeypatch):
    monkeypatch.setenv("ISTHMUS_DEBUG_LEG", "tcp")
    done = isthmus("run", "-n", 2, "true")
    assert done.returncode == 2
    assert "ISTHMUS_DEBUG_LEG is 'tcp'" in done.stderr


DENIED = (
    refused(319, 279)
    + r"""
assert libc.memfd_create(b"x", 0) < 0 and ctypes.get_errno() == 1
"""
)  # memfd_create


@pytest.mark.parametrize(
    ("denied", "memory"), [(("east", "west"), False), (("east",), True), (("west",), True)]
)
def test_one_of_two_makes_the_memory_or_gateways_carry_it(isthmus, tmp_path, denied, memory):
    parts = {}
    for cluster in ("east", "west"):
        program = tmp_path / f"{cluster}.py"
        program.write_text(DENIED * (cluster in denied) + TALK)
        parts[cluster] = (1, mpis.ALL["mpich5"].python, program, 50)
    done = isthmus.well("run", "--stats", *mpis.on(**parts))
    gateways, directly = crossed(done.stderr)
    assert gateways + directly["memory"] >= 2 * 50 * 300_000
    assert bool(directly["memory"]) is memory, done.stderr


def test_a_rank_that_cannot_make_memory_keeps_its_socket(isthmus, tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_REACH", "gateway")
    program = tmp_path / "denied.py"
    program.write_text(DENIED + TALK)
    other, python = talk(tmp_path), mpis.ALL["mpich5"].python
    words = mpis.on(east=(1, python, program, 50), west=(1, python, other, 50))
    done = isthmus.well("run", "--stats", *words)
    assert shared(done.stderr)[1] == {"west": "1 of 1"}, done.stderr


@pytest.fixture(params=["direct", "gateways"])
def memory(request, monkeypatch):
    """Rings between processes, and those between them and gateways."""
    if request.param == "gateways":
        monkeypatch.setenv("ISTHMUS_REACH", "gateway")


@contextlib.contextmanager
def running(program: Path, ranks: int, times: int) -> Iterator[tuple[subprocess.Popen, dict]]:
    """A run of `talk`, and the ranks' processes."""
    words = ["run", "-n", ranks, mpis.ALL["mpich5"].python, program, times]
    run = Running(
        [sys.executable, "-m", "isthmus", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert run.stdout is not None
        yield run, dict(map(int, run.stdout.readline().split()) for _ in range(ranks))
    finally:
        run.terminate()
        run.communicate(timeout=240)


@pytest.mark.usefixtures("memory")
def test_a_rank_that_dies_in_the_middle_of_a_message_ends_the_job(tmp_path):
    with running(talk(tmp_path), 4, 1_000_000) as (run, pids):
        time.sleep(0.5)  # so that messages are under way; nothing depends on it
        os.kill(pids[3], signal.SIGKILL)
        _, errors = run.communicate(timeout=240)
        assert run.returncode != 0
        assert "rank 3" in errors or "west" in errors, errors


@pytest.mark.usefixtures("memory")
def test_a_rank_that_stands_still_for_longer_than_a_conduit_may_loses_nothing(tmp_path):
    program = tmp_path / "still.py"
    program.write_text(
        TALK.replace("for i in", "if world.rank == 1: os.kill(os.getpid(), 19)\nfor i in")
    )
    with running(program, 2, 200) as (run, pids):
        try:
            while not stopped(pids[1]):
                time.sleep(0.05)
            time.sleep(12)
        finally:
            os.kill(pids[1], signal.SIGCONT)
        _, errors = run.communicate(timeout=240)
        assert run.returncode == 0, errors


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
