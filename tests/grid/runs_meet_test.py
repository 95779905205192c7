"""Worlds that separate commands have started meet at ports."""

from __future__ import annotations

import array
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import mpis
import pytest
from marks import MARK, nothing_is_left
from running import Running

MEETING = Path(__file__).parent / "meeting"
RUNS, FAILS = MEETING / "runs.c", MEETING / "runs_fail.c"
WINDOWS, FILES = MEETING / "runs_windows.c", MEETING / "runs_files.c"
Start = Callable[..., Running]


@pytest.fixture
def start() -> Iterator[Start]:
    """start("run", ...) -> a command of isthmus; in the end no process of any may be left."""
    mark = uuid.uuid4().hex
    ours = {MARK: mark, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    begun: list[Running] = []

    def run(*words: object) -> Running:
        command = [sys.executable, "-m", "isthmus", *map(str, words)]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        begun.append(Running(command, env=os.environ | ours, **pipes))
        return begun[-1]

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
            process.communicate()
    nothing_is_left(mark)


def ended(process: Running, limit: float = 240) -> tuple[int, str, str]:
    """Status, output and errors."""
    out, errors = process.communicate(timeout=limit)
    return process.returncode, out, errors


@pytest.mark.parametrize(("server", "client"), [("openmpi4", "mpich4"), ("mpich4", "openmpi4")])
def test_a_server_has_clients_one_after_the_other(start, programs, tmp_path, server, client):
    port = tmp_path / "port"
    accepts = mpis.ALL[server].build(RUNS, programs)
    connects = mpis.ALL[client].build(RUNS, programs)
    serving = start("run", "-n", 3, accepts, "accept", port, 3)
    for times in (2, 1):
        status, out, errors = ended(start("run", "-n", 2, connects, "connect", port, times))
        assert (status, out) == (0, "connect: passed\n"), errors
    status, out, errors = ended(serving)
    assert (status, out) == (0, "accept: passed\n"), errors


def test_names_and_sockets_lead_to_other_runs_of_one_cluster_too(start, programs, tmp_path):
    program = mpis.ALL["openmpi4"].build(RUNS, programs)
    other = mpis.ALL["mpich4"].build(RUNS, programs)
    name = f"ocean-{uuid.uuid4().hex}"
    serving = start("run", "--guests", "--on", "east", "-n", 2, program, "serve", name, 2)
    visiting = [start("run", "-n", 2, other, "visit", name) for _ in range(2)]
    for process, said in (*((each, "visit") for each in visiting), (serving, "serve")):
        status, out, errors = ended(process)
        assert (status, out) == (0, f"{said}: passed\n"), errors
    socket = tmp_path / "s"
    sides = [start("run", "--guests", "--on", "west", "-n", 1, program, "join", socket)]
    sides.append(start("run", "-n", 2, other, "join", socket))
    for side in sides:
        status, out, errors = ended(side)
        assert (status, out) == (0, "join: passed\n"), errors


def test_ports_that_lead_nowhere_are_told(start, programs, tmp_path):
    program = mpis.ALL["openmpi4"].build(FAILS, programs)
    port, until = tmp_path / "port", tmp_path / "until"
    holding = start("run", "-n", 2, program, "hold", port, until)
    status, out, errors = ended(start("run", "-n", 2, program, "wrong", port))
    assert status == 0, errors
    said = dict(line.split(": ", 1) for line in out.splitlines())
    assert "nobody has accepted at the port isthmus:" in said["nobody"]
    assert "within 0.5 s" in said["nobody"]
    assert "the port 'isthmus:of/no/run' is not open" in said["nonsense"]
    assert "is not open" in said["secret"]
    assert (
        "the run isthmus-0, whose port isthmus:isthmus-0/1 is, is not on this host" in said["gone"]
    )
    assert "socket" in said["dead"]
    assert "the socket could not be written: Bad file descriptor" in said["unknown"]
    until.touch()
    assert ended(holding)[0] == 0


def test_the_end_of_one_run_ends_those_that_it_is_connected_with(start, programs, tmp_path):
    program = mpis.ALL["mpich4"].build(FAILS, programs)
    port = tmp_path / "port"
    waiting = start("run", "-n", 2, program, "wait", port)
    assert ended(start("run", "-n", 2, program, "die", port))[0] == 3
    status, _, errors = ended(waiting)
    assert status == 1
    assert "has ended, but this one still had communicators with it" in errors


def test_after_they_have_disconnected_each_ends_alone(start, programs, tmp_path):
    accepts = mpis.ALL["openmpi4"].build(RUNS, programs)
    fails = mpis.ALL["openmpi4"].build(FAILS, programs)
    port = tmp_path / "port"
    serving = start("run", "-n", 2, accepts, "accept", port, 2, "brief")
    status, _, errors = ended(start("run", "-n", 2, fails, "leave", port))
    assert status == 3, errors
    time.sleep(1.5)  # until what ends has been heard of
    status, _, errors = ended(start("run", "-n", 2, accepts, "connect", port, 1, "brief"))
    assert status == 0, errors
    status, _, errors = ended(serving)
    assert status == 0, errors


@pytest.mark.parametrize(("server", "client"), [("openmpi4", "mpich4"), ("mpich4", "openmpi4")])
def test_windows_span_runs(start, programs, tmp_path, server, client):
    port = tmp_path / "port"
    serving = start("run", "-n", 3, mpis.ALL[server].build(WINDOWS, programs), "accept", port)
    program = mpis.ALL[client].build(WINDOWS, programs)
    visiting = start("run", "-n", 2, program, "connect", port)
    for process, said in ((serving, "accept"), (visiting, "connect")):
        status, out, errors = ended(process)
        assert (status, out) == (0, f"{said}: passed\n"), errors


def test_windows_span_parents_and_children(start, programs):
    program = mpis.ALL["openmpi4"].build(WINDOWS, programs)
    status, out, errors = ended(start("run", "-n", 2, program, "spawn"))
    assert status == 0, errors
    assert sorted(out.splitlines()) == ["child: passed", "spawn: passed"]


def test_a_run_that_dies_ends_those_that_share_a_window_with_it(start, programs, tmp_path):
    program = mpis.ALL["openmpi4"].build(WINDOWS, programs)
    port = tmp_path / "port"
    waiting = start("run", "-n", 2, program, "accept", port, "die")
    assert ended(start("run", "-n", 2, program, "connect", port, "die"))[0] == 3
    status, _, errors = ended(waiting)
    assert status == 1
    assert "has ended, but this one still had communicators with it" in errors


def both(start, programs, tmp_path, server, client, *how) -> list[tuple[int, str, str]]:
    """Runs that have files open together: those that accept, those that connect."""
    port, file = tmp_path / "port", tmp_path / "file"
    of_server = mpis.ALL[server].build(FILES, programs)
    of_client = mpis.ALL[client].build(FILES, programs)
    sides = [start("run", "-n", 3, of_server, "accept", port, file, *how)]
    sides.append(start("run", "-n", 2, of_client, "connect", port, file, *how))
    return [ended(side) for side in sides]


@pytest.mark.parametrize(("server", "client"), [("openmpi4", "mpich4"), ("mpich4", "openmpi4")])
def test_files_span_runs(start, programs, tmp_path, server, client):
    sides = both(start, programs, tmp_path, server, client)
    for (status, out, errors), said in zip(sides, ("accept", "connect"), strict=True):
        assert (status, out) == (0, f"{said}: passed\n"), errors
    ranks, blocks, block = 5, 30, 5000
    written = array.array("i", (tmp_path / "file").read_bytes())
    for rank in range(ranks):
        for at in (0, 17, blocks - 1):
            begin = (at * ranks + rank) * block
            first = (rank * blocks + at) * block
            assert written[begin : begin + block] == array.array("i", range(first, first + block))
    assert list(written[ranks * blocks * block :]) == list(range(ranks))
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_run_names_no_file_of_another(start, programs, tmp_path):
    sides = both(start, programs, tmp_path, "openmpi4", "mpich4", "wrong")
    for (status, out, errors), said in zip(sides, ("accept", "connect"), strict=True):
        assert (status, out) == (0, f"{said}: passed\n"), errors


def test_a_run_that_dies_ends_those_that_have_a_file_with_it(start, programs, tmp_path):
    (waited, _, errors), (died, *_) = both(start, programs, tmp_path, "openmpi4", "mpich4", "die")
    assert (waited, died) == (1, 3)
    assert "has ended, but this one still had communicators with it" in errors
