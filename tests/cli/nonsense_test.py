"""Every mistake of a user ends in sentences: nonsense in every variable and every option, and an
agent that is silent in every state."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from running import ran

import isthmus
from isthmus.cli.cli import app

SOURCES = Path(isthmus.__file__).parent
NONSENSE = ["", " ", "abc", "-1", "nan", "1e999", "'", "=", ":", "/", "\u00e9\u0416", "x" * 5000]


def variables() -> list[str]:
    """All of ours that the command line reads, by its sources."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        found |= set(re.findall(r'"(ISTHMUS_[A-Z_]+)"', path.read_text()))
    return sorted(found)


def options() -> list[str]:
    """All that `isthmus run` takes a value for."""
    group = typer.main.get_command(app)
    run = group.commands["run"]  # type: ignore[attr-defined]
    return [p.opts[0] for p in run.params if p.opts[0].startswith("-") and not p.is_flag]


def python(*words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return ran(
        [sys.executable, *words],
        errors="replace",
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCES.parent), **env},
    )


def ended_in_a_sentence(status: int, stderr: str) -> None:
    assert "Traceback" not in stderr, stderr
    if status != 0:
        assert re.search(r"^isthmus: \S", stderr, re.MULTILINE), stderr


def isthmus_ends(*words: str, cwd: Path, **env: str) -> None:
    done = python("-m", "isthmus", *words, cwd=cwd, **env)
    ended_in_a_sentence(done.returncode, done.stderr)


# Runs the command once for each environment and list of words in its argument, each time in a child
# of its own. So Python reads the command only once, which takes half a second. No module looks at
# the environment when it is read.
MANY = """
import asyncio, json, os, sys, traceback
import ClusterShell.NodeSet, pydantic, rich.console, typer.main
import isthmus.cli.cli, isthmus.doctor, isthmus.job.job

runs = json.loads(sys.argv[1])
for env, words in runs:
    child = os.fork()
    if child == 0:
        try:
            os.environ.update(env)
            from isthmus.cli.cli import main
            status = main(words)
        except SystemExit as end:
            status = end.code
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status or 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"\\0{status}\\0", end="", file=sys.stderr, flush=True)
"""


def isthmus_ends_each(runs: list[tuple[dict[str, str], list[str]]], cwd: Path) -> None:
    """As isthmus_ends, for many environments and command lines."""
    done = python("-c", MANY, json.dumps(runs), cwd=cwd)
    told = done.stderr.split("\0")
    assert done.returncode == 0, done.stderr
    assert len(told) == 2 * len(runs) + 1, done.stderr
    for stderr, status in zip(told[0::2], told[1::2], strict=False):
        ended_in_a_sentence(int(status), stderr)


def test_what_is_tried():
    assert {"ISTHMUS_START_TIMEOUT", "ISTHMUS_GRACE", "ISTHMUS_SSH", "ISTHMUS_GRID"} <= {
        *variables()
    }
    assert {"-n", "--on", "-x", "--wdir", "--mpi", "-g", "--timeout", "--wait"} <= {*options()}


@pytest.mark.parametrize("name", variables())
def test_variables(name, tmp_path, grid_with):
    grid = grid_with('[cluster.east]\n[cluster.west]\nhost = "there.invalid"\n')
    limits = {"ISTHMUS_START_TIMEOUT": "5"}
    # Most are read before anything is started; a grid of two shows what the rest do.
    runs = [
        ({**limits, "ISTHMUS_GRID": str(grid), name: text}, ["run", "--dry-run", "-n", "2", "true"])
        for text in NONSENSE[:8]
    ]
    for text in ("abc", "'"):
        env = {**limits, "ISTHMUS_SSH": "false", name: text}
        runs.append((env, ["run", "-g", str(grid), "-n", "2", "true"]))
        runs.append((env, ["doctor", "-g", "/nonexistent"]))
    isthmus_ends_each(runs, tmp_path)


@pytest.mark.parametrize("option", options())
def test_options(option, tmp_path):
    lines = [["run", option, text, "--dry-run", "true"] for text in NONSENSE]
    isthmus_ends_each([({}, words) for words in [*lines, ["run", option]]], tmp_path)


def test_a_traceback_would_be_seen(tmp_path):
    with pytest.raises(AssertionError):
        isthmus_ends_each([({}, ["run", "--dry-run", "true"]), ({}, [0])], tmp_path)  # type: ignore


@pytest.mark.parametrize(
    "words", [["run"], ["run", ":"], ["run", ""], ["run", "-n", "1", "x", ":"], ["no such"]]
)
def test_command_lines(words, tmp_path):
    isthmus_ends(*words, cwd=tmp_path)


@pytest.mark.parametrize("moment", ["hello", "configure", "inspect", "link", "spawn"])
def test_an_agent_that_is_silent(pair, moment):
    """It hears all, and says nothing more from this moment on."""
    moments = ["hello", "configure", "inspect", "link", "spawn"]
    silent = {op: [] for op in [*moments[moments.index(moment) :], "kill", "pause", "count"]}
    grid = pair(None, {"on": silent})
    limits = {"ISTHMUS_START_TIMEOUT": "1"} if moment == "hello" else {}
    done = grid.run("-n", "2", "--timeout", "3", "x", env=limits)
    assert done.returncode in (1, 124), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("isthmus: ")
