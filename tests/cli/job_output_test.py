"""The input and output of a run."""

import shlex

from running import ran
from scenarios import EXIT_0, RUNNING, spawned


def test_output_comes_out_unchanged(pair):
    out = {"say": {"op": "output", "fd": 1}, "text": "no end of line, \u00e9\0"}
    err = {"say": {"op": "output", "fd": 2}, "text": "to stderr\n"}
    done = pair(spawned(out, err, {"say": EXIT_0})).run("-n", "2", "x")
    assert done.returncode == 0
    assert done.stdout.replace("rank 1\n", "") == "no end of line, \u00e9\0"
    assert done.stderr == "to stderr\n"


def test_stdin_goes_to_rank_0(pair):
    text = "line\n" * 50_000
    done = pair({"echo": True, "keep_running": True}).run("-n", "2", "x", stdin=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("rank 1\n", "") == text


def test_reader_of_the_output_goes_away(pair):
    flood = [{"say": {"op": "output", "fd": 1}, "text": "y\n" * 1000}] * 200
    grid = pair({**spawned(*flood)}, RUNNING)
    command = shlex.join(grid.command("-n", "2", "x"))
    done = ran(["bash", "-c", f"{command} | head -1; exit ${{PIPESTATUS[0]}}"])
    assert (done.returncode, done.stdout, done.stderr) == (141, "y\n", "")
