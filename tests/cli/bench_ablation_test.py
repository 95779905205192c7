"""`isthmus bench ablation`, without measuring."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isthmus_lab.bench.ablation import command
from isthmus_lab.bench.ablation.cells import CELLS, MECHANISMS
from isthmus_lab.bench.commands import bench_app

ROOT = Path(__file__).parents[2]
FIGURE = ("room", "isthmus", "pingpong:8:100")


def test_mechanisms_are_those_of_the_code():
    text = (ROOT / "src/core/base/debug_off.cpp").read_text()
    names = re.search(r"kNames\{(.*?)\}", text, re.DOTALL)
    assert names is not None
    known = set(re.findall(r'"([a-z-]+)"', names[1]))
    # No cell compresses numbers, and nothing computes beside any.
    assert set(MECHANISMS) == known - {"word-differences", "short-slices"}


def test_ratios_compare_medians():
    times = {("", FIGURE): [2.0, 1.0, 9.0], ("lending", FIGURE): [3.0, 8.0, 1.0]}
    assert command.ratios(times, "lending") == {FIGURE: 1.5}
    assert command.ratios(times, "turns") == {}


def test_a_change_wants_samples_that_lie_apart():
    assert command.changes([3.0, 4.0], [1.0, 2.0])
    assert not command.changes([3.0, 1.5], [1.0, 2.0])
    assert not command.changes([1.03, 1.04], [1.0, 1.01])


def test_a_stream_counts_by_message():
    run = {"seconds": [2.0, 4.0], "messages": [4, 4], "task": "", "contestant": ""}
    assert command._seconds(run) == 0.75


@pytest.mark.parametrize("words", [["--off", "lendin"], ["--cell", "rom"]])
def test_unknown_names(words):
    found = CliRunner().invoke(bench_app, ["ablation", *words])
    assert isinstance(found.exception, Exception)
    assert "unknown" in str(found.exception)


def test_turns(monkeypatch, tmp_path):
    """All cells, each with all on and without each of its mechanisms, to and fro."""
    asked = []
    monkeypatch.setattr(command, "_measure", lambda *what: asked.append(what) or {FIGURE: 1.0})
    found = CliRunner().invoke(bench_app, ["ablation", "--passes", "2", "--json", tmp_path / "f"])
    assert found.exit_code == 0, found.output
    for cell in CELLS:
        turns = ["", *sorted(cell.mechanisms)]
        assert [off for one, off in asked if one is cell] == turns + turns[::-1]
