"""Processor time of messages: what is counted, and what is made of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isthmus.measuring.runs import Run
from isthmus_lab.bench.cost.group import Group
from isthmus_lab.bench.cost.parts import Sorter, part
from isthmus_lab.bench.cost.results import CostResults, CostRun, cost_of, works
from isthmus_lab.measuring.samples import NotMeasuredError

_SPIN = "import time\nwhile time.process_time() < 0.3: pass"
_LINES = 20_000_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make control groups")
def test_a_group_counts_what_is_started_in_it():
    group = Group()
    try:
        with group.entered():
            subprocess.run([sys.executable, "-c", _SPIN], check=True)
        inside = group.seconds()
        subprocess.run([sys.executable, "-c", _SPIN], check=True)
        assert inside >= 0.3
        assert group.seconds() - inside < 0.3
    finally:
        group.close()


def test_a_round_trip_is_two_messages():
    work = works(1.0)[0]
    run = Run("a", 0, work.task, 1, (2.0, 3.0))
    assert cost_of([run], 7.0) == CostRun("a", 0, work.task, 4.0, 7.0, 5.0)
    stream = Run("a", 0, works(1.0)[4].task, 1, (1.0, 1.0), (100.0, 120.0))
    assert cost_of([stream], 7.0).messages == 220.0


def test_start_and_warm_up_are_taken_off():
    work = works(1.0)[0]
    results = CostResults(labels={"a": "A"})
    for number, start in enumerate((1.0, 2.0, 5.0)):
        results.runs.append(CostRun("a", number, work.short, 20.0, start + 0.2, 0.1))
        results.runs.append(CostRun("a", number, work.task, 1020.0, start + 10.2, 0.51))
    assert results.processor("a", work) == pytest.approx(0.01)
    assert results.clock("a", work) == pytest.approx(0.0005)
    with pytest.raises(NotMeasuredError):
        results.processor("a", works(1.0)[1])


def test_a_pass_whose_jobs_are_equally_long_says_nothing():
    work = works(1.0)[3]
    results = CostResults(labels={"a": "A"})
    results.runs.append(CostRun("a", 0, work.short, 400.0, 1.0, 0.1))
    results.runs.append(CostRun("a", 0, work.task, 400.0, 1.5, 0.2))
    with pytest.raises(NotMeasuredError):
        results.processor("a", work)
    results.runs.append(CostRun("a", 1, work.short, 100.0, 1.0, 0.1))
    results.runs.append(CostRun("a", 1, work.task, 400.0, 4.0, 0.2))
    assert results.processor("a", work) == pytest.approx(0.01)


def test_samples_survive_a_file():
    work = works(0.5)[0]
    results = CostResults(
        labels={"a": "A"}, runs=[CostRun("a", 1, work.task, 20.0, 1.0, 0.5, parts={"end": 0.5})]
    )
    other = CostResults()
    other.merge(results.as_json())
    assert other.runs == results.runs


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("isthmusd", "gateway"),
        ("haproxy", "proxy"),
        ("python3", ""),
        ("isthmus", ""),
        ("isthmus-tcpbenc", "end"),
        ("p2p-1d6f54ef009", "end"),
    ],
)
def test_each_program_belongs_to_a_part(name: str, found: str):
    assert part(name) == found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make control groups")
def test_parts_are_counted_apart():
    group = Group()
    sorter = Sorter(group, {Path("/proc/self/ns/net").stat().st_ino: "here"})
    try:
        with group.entered():
            subprocess.run([sys.executable, "-c", _SPIN], check=True)
            subprocess.run(["sed", "-n", f"{_LINES}p"], input="\n" * _LINES, text=True, check=True)
        parts = group.parts()
        assert list(parts) == ["end here"]
        assert 0 < parts["end here"] < group.seconds() - 0.3
    finally:
        sorter.close()
        group.close()


def test_the_cost_of_a_part():
    work = works(1.0)[0]
    results = CostResults(labels={"a": "A"})
    parts = {"end a1": 0.2, "end b1": 0.01}
    results.runs.append(CostRun("a", 0, work.short, 20.0, 1.0, 0.1, parts=parts))
    parts = {"end a1": 1.2, "end b1": 0.01, "gateway a0": 0.5}
    results.runs.append(CostRun("a", 0, work.task, 1020.0, 2.0, 0.51, parts=parts))
    assert results.parts("a") == ["end a1", "gateway a0"]
    assert results.processor("a", work, "end a1") == pytest.approx(0.001)
    assert results.processor("a", work, "gateway a0") == pytest.approx(0.0005)
