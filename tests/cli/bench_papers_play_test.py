"""`isthmus bench papers`: a run of a recipe and its report, and the command, without measuring."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from isthmus.cli.cli import main
from isthmus.measuring.runs import Run
from isthmus.measuring.tasks import Task
from isthmus_lab.bench.papers import command, play, report
from isthmus_lab.bench.papers.recipe import Claim, Measurement, Paper, Recipe
from isthmus_lab.measuring.machine import Machine
from isthmus_lab.measuring.results import Results

PAPER = Paper("p", "A paper")
LATENCY = Recipe(
    "p-fig1",
    PAPER,
    "Figure 1",
    "a thing",
    {"": Measurement("p2p", ("--testbed", "x y"), ("--quick",))},
    (
        Claim("one way", 70, lambda found: 1e6 * found.p2p().one_way("tcp", 8), "us", "at most"),
        Claim("a curve", None, lambda found: found.p2p().paused("tcp", 8)),
    ),
    "A remark.",
)


def measured() -> Results:
    return Results({"tcp": "TCP"}, [Run("tcp", 0, Task("pingpong", 8, 1), 1, (100e-6,))])


def leaves(results: Results, status: int = 0):
    """A benchmark that leaves these results; the words it was called with are kept."""

    def run(words) -> int:
        run.words = list(words)
        Path(words[words.index("--json") + 1]).write_text(json.dumps(results.as_json()))
        return status

    return run


def test_a_run_tells_both_numbers(tmp_path: Path):
    run, said = leaves(measured(), status=1), []
    outcome = play.play(LATENCY, True, tmp_path, said.append, run)
    assert run.words[:2] == ["p2p", "--quick"]
    assert run.words[-2:] == ["--figures", str(tmp_path / "p-fig1")]
    assert said == ["p-fig1: isthmus bench p2p --quick"]
    assert not outcome.failures
    assert not outcome.shown
    text = report.markdown(outcome, quick=False)
    assert "    isthmus bench p2p --testbed 'x y'\n" in text
    assert "| one way | 70 us | 50 us | reached |" in text
    assert "| a curve | no number | - | TCP: a message of 8 B after a pause not measured |" in text
    assert text.endswith("\n\nA remark.")


def test_a_benchmark_that_leaves_nothing_is_told():
    outcome = play.play(LATENCY, False, None, lambda _: None, lambda _: 2)
    assert outcome.failures == [
        "isthmus bench p2p --testbed x y ended with status 2, without results"
    ]
    assert [found.value for found in outcome.findings] == [None, None]


def test_a_contestant_that_failed_is_told():
    results = measured()
    results.failed.append("relay-ssh")
    recipe = replace(LATENCY, claims=(LATENCY.claims[0],))
    outcome = play.play(recipe, False, None, lambda _: None, leaves(results))
    assert outcome.failures == ["isthmus bench p2p --testbed x y: relay-ssh could not be measured"]
    assert not outcome.shown
    results.failed.clear()
    assert play.play(recipe, False, None, lambda _: None, leaves(results)).shown


def test_a_busy_machine_judges_no_claim():
    results = measured()
    recipe = replace(LATENCY, claims=(LATENCY.claims[0],))
    for used, shown, word in ((0.1, True, "reached"), (0.9, False, "not judged: busy machine")):
        results.machines[""] = Machine(used, used, 2)
        outcome = play.play(recipe, False, None, lambda _: None, leaves(results))
        assert outcome.shown == shown
        text = report.markdown(outcome, quick=False)
        assert f"| one way | 70 us | 50 us | {word} |" in text
        assert f"other programs used {used:.2f} of 2 cores" in text


@pytest.mark.parametrize(
    ("value", "noise", "well"),
    [(-3.8, 1, None), (5, 1, True), (14.5, 1, None), (15.5, 1, None), (17, 1, False)],
)
def test_noise_reaches_nothing(value, noise, well):
    """A layer that "costs" less than nothing shows only noise."""
    claim = Claim("cost", 15, lambda _: 0, "us", "at most", lambda _: 0)
    assert claim.well(value, noise) is well
    if well is None:
        assert play.Finding(claim, value, noise=noise).word == "not judged: noise of 1 us"


def test_the_noise_of_a_latency_is_its_difference_between_passes():
    runs = [
        Run("tcp", number, Task("pingpong", 8, 2), 1, (least, 100e-6))
        for number, least in enumerate((20e-6, 26e-6))
    ]
    assert Results({}, runs).spread("tcp", 8) == pytest.approx(3e-6)
    assert Results({}, runs[:1]).spread("tcp", 8) == pytest.approx(20e-6)


@pytest.mark.parametrize(("sense", "well"), [("at least", False), ("at most", True), ("", None)])
def test_a_claim_is_reached_on_its_side(sense, well):
    assert Claim("", 10, lambda _: 0, "", sense).well(9) is well


def test_numbers_are_drawn_beside(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from isthmus_lab.bench.papers import figures  # noqa: PLC0415

    outcome = play.Outcome(LATENCY, [play.Finding(LATENCY.claims[0], 50.0)])
    made = figures.beside(outcome, tmp_path / "new")
    assert [path.name for path in made] == [
        "p-fig1-beside-the-paper.png",
        "p-fig1-beside-the-paper.svg",
    ]
    assert all(path.stat().st_size > 1000 for path in made)
    assert figures.beside(play.Outcome(LATENCY), tmp_path) == []


# -- the command ----------------------------------------------------------------------------------


def test_the_command_lists_runs_and_ends(capsys, monkeypatch, tmp_path: Path):
    assert main(["bench", "papers", "--list", "matsuda-*"]) == 0
    assert re.findall(r"^  (\S+)", capsys.readouterr().out, re.MULTILINE) == [
        "matsuda-fig6",
        "matsuda-fig7",
        "matsuda-fig6-sim",
    ]
    assert main(["bench", "papers"]) == 2
    assert "--list" in capsys.readouterr().err
    asked: list[tuple[str, bool]] = []

    def played(one, quick, *_):
        asked.append((one.name, quick))
        return play.Outcome(one, failures=["nothing"] if one.name == "matsuda-fig7" else [])

    monkeypatch.setattr(command.play, "play", played)
    file = tmp_path / "found.json"
    assert main(["bench", "papers", "matsuda-fig6", "--quick"]) == 0
    assert main(["bench", "papers", "matsuda-fig?", "--json", str(file)]) == 1
    assert asked == [("matsuda-fig6", True), ("matsuda-fig6", False), ("matsuda-fig7", False)]
    names = [one["name"] for one in json.loads(file.read_text())["figures"]]
    assert names == ["matsuda-fig6", "matsuda-fig7"]
    assert main(["bench", "papers", "matsuda-fig6", "--json", str(tmp_path / "no" / "x")]) == 2
