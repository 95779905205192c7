"""Whatever the user gets wrong ends in sentences: nonsense in every variable and every option, and
an agent that is silent in every state."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import isthmus
from isthmus.cli import app

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


def isthmus_ends(*words: str, cwd: Path, **env: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "isthmus", *words],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCES.parent), **env},
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    if done.returncode != 0:
        assert re.search(r"^isthmus: \S", done.stderr, re.MULTILINE), done.stderr


def test_what_is_tried():
    assert {"ISTHMUS_START_TIMEOUT", "ISTHMUS_GRACE", "ISTHMUS_SSH", "ISTHMUS_GRID"} <= {
        *variables()
    }
    assert {"-n", "--on", "-x", "--wdir", "--mpi", "-g", "--timeout", "--wait"} <= {*options()}


@pytest.mark.parametrize("name", variables())
def test_variables(name, tmp_path):
    grid = tmp_path / "grid.toml"
    grid.write_text('[cluster.east]\n[cluster.west]\nhost = "there.invalid"\n')
    # Most are read before anything is started; a grid of two shows what the rest do.
    for text in NONSENSE[:8]:
        env = {"ISTHMUS_GRID": str(grid), "ISTHMUS_START_TIMEOUT": "5", name: text}
        isthmus_ends("run", "--dry-run", "-n", "2", "true", cwd=tmp_path, **env)
    for text in ("abc", "'"):
        env = {"ISTHMUS_SSH": "false", "ISTHMUS_START_TIMEOUT": "5", name: text}
        isthmus_ends("run", "-g", str(grid), "-n", "2", "true", cwd=tmp_path, **env)
        isthmus_ends("doctor", "-g", "/nonexistent", cwd=tmp_path, **env)


@pytest.mark.parametrize("option", options())
def test_options(option, tmp_path):
    for text in NONSENSE:
        isthmus_ends("run", option, text, "--dry-run", "true", cwd=tmp_path)
    isthmus_ends("run", option, cwd=tmp_path)


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
