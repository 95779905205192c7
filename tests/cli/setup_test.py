"""A cluster's `setup`: what it does, and how it fails."""

import os
import signal
import subprocess

import pytest
from running import Running
from scenarios import check
from waiting import eventually


def test_what_it_prints_and_reads_is_nothing_of_the_agents(grid):
    grid.cluster("east", 'setup = ["echo loading", "cat", "read line || :", "echo >&2 so"]')
    done = grid.run("-n", "1", "x")
    assert (done.returncode, done.stdout, done.stderr) == (0, "rank 0\n", "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("false", "1: false"),
        ("exit 3", "3"),
        ("no-such-module load x", "127: no-such-module load x"),
    ],
)
def test_a_line_that_fails_is_told(grid, line, said):
    grid.cluster("east", f'setup = ["true", "{line}", "echo more"]')
    done = grid.run("-n", "1", "x")
    check(done, 1, f"cluster east: its setup ended with status {said}\n", "login shell (bash -l)")


def test_one_that_hangs_is_ended_with_all_that_it_has_started(grid, tmp_path):
    child = tmp_path / "child"
    grid.cluster("east", f'setup = ["sleep 600 & echo $! >{child}", "wait"]')
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = Running(grid.command("-n", "1", "x"), **pipes)
    eventually(lambda: child.exists() and child.read_text().endswith("\n"), "the setup's child")
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=240)
    assert (running.returncode, errors) == (130, "isthmus: SIGINT: ended everything\n")
    number = int(child.read_text())

    def gone() -> bool:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        return False

    eventually(gone, "the end of what the setup has started")
