"""The examples that go on without clusters that fail (docs/surviving.md)."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest

EXAMPLES = mpis.ROOT / "examples"
INCLUDE = mpis.ROOT / "include"
GRID = "".join(f"[cluster.{name}]\nslots = 2\n" for name in ("east", "west", "north", "south"))
# The result is the same with a death and without, and in both languages.
MIDDLE = "12.120989689417 degrees in the middle; 6 ranks are left\n"


def in_c(name: str, library: str) -> list[object]:
    program = mpis.ROOT / "build" / "tests" / f"{name}.{library}"
    program.parent.mkdir(parents=True, exist_ok=True)
    source = EXAMPLES / f"{name}.c"
    mpis.compile_to(
        program, mpis.ALL[library].cc, "-Wall", "-Werror", f"-I{INCLUDE}", source, "-lm"
    )
    return [program]


def in_python(name: str, library: str) -> list[object]:
    return [mpis.ALL[library].python, EXAMPLES / f"{name}.py"]


@pytest.fixture(autouse=True)
def _module(monkeypatch) -> None:
    """Where isthmus_survival.py is."""
    monkeypatch.setenv("PYTHONPATH", str(INCLUDE))


def survive(isthmus, folder: Path, failed: set[str], *words: object) -> str:
    """Returns what the program printed after these clusters have failed."""
    grid = folder / "grid.toml"
    grid.write_text(GRID)
    done = isthmus.well("run", "--survive", "-g", grid, "-n", 8, *words, timeout=120)
    assert set(re.findall(r'cluster "(\w+)" has failed: ', done.stderr)) == failed
    return str(done.stdout)


@pytest.mark.parametrize(("language", "library"), [(in_c, "mpich4"), (in_python, "openmpi5")])
def test_no_task_is_lost(isthmus, tmp_path, language, library: str) -> None:
    words = [*language("isthmus_workers", library), "west", "south"]
    out = survive(isthmus, tmp_path, {"west", "south"}, *words)
    assert re.fullmatch(r"pi is 3\.1415\d+; 3 of 7 workers are left\n", out)


@pytest.mark.parametrize(
    ("language", "library", "step"),
    [(in_c, "openmpi4", 250), (in_python, "mpich5", 30)],
    ids=["with copies", "before the first copies"],
)
def test_a_solver_goes_on_from_copies(isthmus, tmp_path, language, library: str, step: int) -> None:
    words = [*language("isthmus_checkpoints", library), "east", step]
    assert survive(isthmus, tmp_path, {"east"}, *words) == MIDDLE
