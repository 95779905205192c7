"""`isthmus bench io`: tasks and figures without running anything, and the program on this host."""

import json
from pathlib import Path

import pytest

from isthmus.cli.cli import main
from isthmus_lab.bench.io import limits, tasks
from isthmus_lab.bench.io.results import IoResults, run_from_json
from isthmus_lab.bench.io.tasks import LARGE, MIB, RANDOM, TRIP, IoTask
from isthmus_lab.bench.timed import TimedRun
from isthmus_lab.bench.verdicts import judge


def test_tasks_and_samples_are_read_as_they_are_written():
    for inside in (False, True):
        for task in tasks.tasks(3, [LARGE, 16 * MIB], inside=inside):
            assert tasks.parse(task.text) == task
            run = TimedRun("isthmus", 2, task, (1e-3, 2e-3))
            assert run_from_json(run.as_json()) == run
    for text in ("write:8", "append:8:1", "outside-write:8:1"):
        with pytest.raises(ValueError, match="not a task"):
            tasks.parse(text)


def test_figures():
    measured = IoResults()

    def add(who: str, operation: str, seconds: float, size: int = LARGE) -> None:
        measured.labels[who] = who
        task = IoTask(operation, size, 1)
        measured.runs.append(TimedRun(who, 0, task, (2 * seconds, seconds)))

    add("isthmus", "message", 0.01, TRIP)
    add("isthmus", "message", 0.64)
    add("isthmus", "message", 10, 1024 * MIB)
    add("isthmus", "write-all", 0.7)
    add("isthmus", "write-all", 11.2, 1024 * MIB)
    add("isthmus", "read-all", 0.8)
    add("isthmus", "read", 0.75)
    add("isthmus", "write", 0.81)
    add("isthmus", "random", 0.5, RANDOM)
    add("isthmus-inside", "read", 0.119)
    add("isthmus-inside", "write", 0.121)
    add("native-inside-a", "read", 0.1)
    add("native-inside-a", "write", 0.1)
    both = [*limits.of_testbed("hablot"), *limits.of_testbed("loopback")]
    found = {verdict.limit.name.partition(":")[0]: verdict for verdict in judge(both, measured)}
    well = {name for name, verdict in found.items() if verdict.well}
    assert well == {
        "reads of 4 KiB anywhere, 64 at a time",
        "sequential reads of 1 MiB",
        "sequential reads of 1 MiB inside the home cluster",
    }
    worst = found["collective write, contiguous"]
    assert worst.value == pytest.approx(10 / 11.2)
    assert found["collective read, strided"].value is None
    allowed = 0.01 * RANDOM / 4096 / 64 + 10 * RANDOM / (1024 * MIB)
    assert found["reads of 4 KiB anywhere, 64 at a time"].value == pytest.approx(0.5 / allowed)


def test_one_figure_alone():
    """Beside the messages that it is compared with; no other limit is judged."""
    found = tasks.tasks(2, [LARGE], inside=False, figures=["read-all"])
    assert [(task.operation, task.bytes) for task in found] == [
        ("message", LARGE),
        ("read-all", LARGE),
    ]
    (limit,) = limits.of_testbed("hablot", ["read-all"])
    assert limit.name.startswith("collective read, contiguous")


@pytest.mark.parametrize(
    "words",
    [["--size", "1000 B"], ["--size", "2 GiB"], ["--folder", "here"], ["--figure", "append"]],
)
def test_what_cannot_be_measured(words, capsys):
    assert main(["bench", "io", "--testbed", "loopback", *words]) == 2
    assert " ".join(words) in capsys.readouterr().err


def test_the_command(tmp_path: Path, capsys):
    file, folder = tmp_path / "out.json", tmp_path / "files"
    folder.mkdir()
    words = ["bench", "io", "--testbed", "loopback", "--native", "mpich", "--size", "1 MiB"]
    words += ["--only", "isthmus", "--only", "*inside*", "--folder", str(folder)]
    status = main([*words, "--rounds", "1", "--passes", "1", "--json", str(file)])
    assert status in (0, 1)  # by the limits
    assert "Isthmus, inside a cluster" in capsys.readouterr().err
    data = json.loads(file.read_text())
    assert (data["failures"], data["failed"]) == ([], [])
    for key in ("isthmus", "isthmus-inside", "native-inside-mpich4.0"):
        wanted = {task.text for task in tasks.tasks(1, [MIB], inside="inside" in key)}
        assert {run["task"] for run in data["runs"] if run["contestant"] == key} == wanted
    assert all(limit["value"] is not None for limit in data["limits"])
    assert list(folder.iterdir()) == []
