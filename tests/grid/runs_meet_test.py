"""Worlds that separate commands have started meet at ports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import mpis
import pytest
from conftest import MARK, marked_processes

RUNS = Path(__file__).parent / "meeting" / "runs.c"
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """start("run", ...) -> a command of isthmus; in the end no process of any may be left."""
    mark = uuid.uuid4().hex
    ours = {MARK: mark, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    begun: list[subprocess.Popen[str]] = []

    def run(*words: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "isthmus", *map(str, words)]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        begun.append(subprocess.Popen(command, env=os.environ | ours, text=True, **pipes))
        return begun[-1]

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
            process.communicate()
    deadline = time.monotonic() + 10
    while left := marked_processes(mark):
        if time.monotonic() > deadline:
            pytest.fail("processes left behind:\n" + "\n".join(left))
        time.sleep(0.1)


def ended(process: subprocess.Popen[str], limit: float = 60) -> tuple[int, str, str]:
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
