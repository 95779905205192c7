"""Time limits and signals of a run."""

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from running import Running
from scenarios import RUNNING, check, spawned
from waiting import eventually, with_enough_time


def test_timeout(pair):
    grid = pair(RUNNING, RUNNING)

    def heard():
        return [m["op"] for m in grid.installs["west"].heard]

    done = with_enough_time(
        lambda seconds: grid.run("-n", "2", "--timeout", f"{seconds:g}", "x"),
        lambda _: "spawn" in heard(),
    )
    check(done, 124, "the time limit of ")
    assert "kill" in heard()


def test_timeout_holds_while_agents_start(pair):
    grid = pair(None, {"on": {"hello": [{"sleep": 30}]}})
    check(grid.run("-n", "2", "--timeout", "1", "x"), 124, "the time limit of 1 s has passed")


def started(grid, **keys):
    """A run whose ranks are up."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    running = Running(grid.command("-n", "2", "x"), **(pipes | keys))
    assert running.stdout.readline() == "up\n"
    return running


UP = spawned({"say": {"op": "output", "fd": 1}, "text": "up\n"})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_everything(pair, number):
    grid = pair(UP, RUNNING)
    with started(grid) as running:
        running.send_signal(number)
        out, err = running.communicate(timeout=240)
    assert (running.returncode, out) == (128 + number, "")
    assert err == f"isthmus: {number.name}: ended everything\n"
    for install in grid.installs.values():
        assert "kill" in [m["op"] for m in install.heard]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_the_status_where_the_terminal_is_gone(pair, number):
    """Writing to standard error fails then."""
    master, terminal = pty.openpty()
    with started(pair(UP, RUNNING), stderr=terminal) as running:
        os.close(terminal)
        os.close(master)
        running.send_signal(number)
        running.communicate(timeout=240)
    assert running.returncode == 128 + number


def test_nobody_says_where_it_is(pair):
    with started(pair(UP, RUNNING)) as running:
        running.send_signal(signal.SIGQUIT)
        assert running.stderr.readline().startswith("isthmus: no rank can say where it is: ")
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=240)


def test_second_interrupt_does_not_wait(pair):
    grid = pair({**UP, "on": {**UP["on"], "kill": [{"sleep": 600}]}}, RUNNING)
    with started(grid) as running:
        running.send_signal(signal.SIGINT)
        heard = grid.installs["east"].home / "heard.jsonl"
        eventually(lambda: "kill" in heard.read_text(), "that east is told")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=240)
        assert running.returncode == 130
    os.kill(grid.installs["east"].pid, signal.SIGKILL)


def state(pid):
    """As ps shows it: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_ctrl_z_stops_all_and_fg_continues(pair):
    def heard(name):
        return (grid.installs[name].home / "heard.jsonl").read_text()

    grid = pair(UP, {**RUNNING, "on": {"pause": []}})  # west never says that it has stopped
    with started(grid, preexec_fn=os.setpgrp) as running:
        for count in (1, 2):
            running.send_signal(signal.SIGTSTP)
            eventually(lambda: state(running.pid) == "T", "a stop")
            for name in ("east", "west"):
                assert heard(name).count('"pause"') == count
                assert heard(name).count('"resume"') == count - 1
            running.send_signal(signal.SIGCONT)
            eventually(
                lambda n=count: all(heard(m).count('"resume"') == n for m in grid.installs),
                "that both have been told",
            )
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=240)
    assert running.returncode == 130


def test_usr1_is_passed_on(pair):
    grid = pair(UP, RUNNING)
    with started(grid) as running:
        running.send_signal(signal.SIGUSR1)
        heard = grid.installs["west"].home / "heard.jsonl"
        eventually(lambda: "signal" in heard.read_text(), "that west is told")
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=240)
    assert grid.installs["west"].told("signal")["signal"] == signal.SIGUSR1
