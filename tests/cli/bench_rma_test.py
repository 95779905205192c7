"""`isthmus bench rma`: tasks and figures without running anything, and the program on this host."""

import json
from pathlib import Path

import pytest

from isthmus.cli.cli import main
from isthmus_lab.bench.rma import limits, tasks
from isthmus_lab.bench.rma.results import RmaResults, RmaRun, run_from_json
from isthmus_lab.bench.rma.tasks import LARGE, RmaTask
from isthmus_lab.bench.verdicts import judge


def test_tasks_are_read_as_they_are_written():
    for inside in (False, True):
        for task in tasks.tasks(40, inside=inside):
            assert tasks.parse(task.text) == task
            assert task.limit > 60
    for text in ("put:8", "put:8:x", "swap:8:1", "outside-put:8:1", "put:8:1:1"):
        with pytest.raises(ValueError, match="not a task"):
            tasks.parse(text)


def test_samples_are_read_as_they_are_written():
    run = RmaRun("isthmus", 2, RmaTask("put", 8, 2), (1e-3, 2e-3))
    assert run_from_json(run.as_json()) == run
    for seconds in ([], [0.0], [-1.0]):
        with pytest.raises(ValueError, match="no times"):
            run_from_json({"task": "put:8:1", "seconds": seconds})


def results(**times: float) -> RmaResults:
    """Results by OPERATION or OPERATION_large; those of others than Isthmus by WHO__OPERATION."""
    found = RmaResults()
    for name, seconds in times.items():
        who, _, operation = name.rpartition("__")
        key = who.replace("_", "-") or "isthmus"
        large = operation.endswith("_large")
        task = RmaTask(operation.removesuffix("_large"), LARGE if large else 8, 1)
        found.labels[key] = key
        found.runs.append(RmaRun(key, 0, task, (2 * seconds, seconds)))
    return found


def test_figures():
    measured = results(
        message=0.010,
        put=0.0102,
        get=0.0102,
        fetch=0.0102,
        lock=0.0204,
        message_large=0.6,
        put_large=0.61,
        get_large=0.61,
        accumulate_large=0.7,
        puts=0.0155,
        isthmus_direct__put=0.01,
        native_a__put=0.02,
        native_b__put=0.0099,
        isthmus_direct__get=0.01,
        native_a__get=0.01,
    )
    verdicts = {verdict.limit.name: verdict for verdict in judge(limits.LIMITS, measured)}
    well = {name.partition(" ")[0] for name, verdict in verdicts.items() if verdict.well}
    assert well == {"put", "get", "fetch", "small", "10,000"}
    small = verdicts["small operations, direct, over the best native MPI"]
    assert small.value == pytest.approx(0.010 / 0.0099)
    assert "native-b" in small.note
    lock = verdicts["lock, put of 8 B, unlock, in round trips of messages"]
    assert lock.value == pytest.approx(2.04)
    inside = verdicts["put and get of 8 B inside a cluster over native"]
    assert inside.value is None


def test_the_command(tmp_path: Path, capsys):
    file = tmp_path / "out.json"
    words = ["bench", "rma", "--testbed", "loopback", "--native", "mpich", "--only", "*inside*"]
    status = main([*words, "--rounds", "2", "--passes", "1", "--json", str(file)])
    assert status in (0, 1)  # by the limits
    said = capsys.readouterr()
    assert "Isthmus, inside a cluster" in said.err
    data = json.loads(file.read_text())
    assert data["failures"] == []
    assert data["failed"] == []
    wanted = {task.text for task in tasks.tasks(2, inside=True)}
    for key in ("isthmus-inside", "native-inside-mpich4.0"):
        assert {run["task"] for run in data["runs"] if run["contestant"] == key} == wanted
    assert [limit["value"] is not None for limit in data["limits"]] == [True, True]
