"""`isthmus jobs`: a table, JSON, and jobs that are forgotten."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from isthmus.cli.cli import main
from isthmus.queues import place, schedulers
from isthmus.queues.submission import Part


@pytest.fixture
def made(tmp_path, monkeypatch) -> Callable[..., Path]:
    """Makes the folder of a job; `lives` as if its process ran."""
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    locks = []

    def make(name: str, lives: bool = False, **state: object) -> Path:
        job = place.create(name)
        slurm = schedulers.KNOWN["slurm"]
        parts = [
            Part(cluster, None, slurm, "x", number).facts()
            for cluster, number in (("lyon", "17"), ("tsukuba", "18"))
        ]
        facts = {"parts": parts, "program": ["./app 1"], "at": "me:7410"}
        job.note("job.json", {**facts, "submitted": time.time() - 300})
        job.note("state.json", state)
        if lives:
            locks.append(job.lock())
        return job.folder

    return make


def shown(capsys, *words: str) -> str:
    assert main(["jobs", *words]) == 0
    return capsys.readouterr().out


def test_no_job(made, capsys, tmp_path):
    assert f"no job was submitted from here, or all are forgotten ({tmp_path}" in shown(capsys)
    assert json.loads(shown(capsys, "--json")) == []


def test_a_table(made, capsys):
    made("isthmus-1", lives=True, state="waiting", here=["lyon"])
    made("isthmus-2", state="ended", status=3, sentence="x")
    made("isthmus-3", state="ended", status=143, sentence="cancelled")
    made("isthmus-4", state="ended", status=0, sentence="")
    printed = [re.sub("  +", "  ", line.strip()) for line in shown(capsys).splitlines()]
    lines = [line.split("  ", 1) for line in printed]
    rows = {words[0]: words[1] for words in lines if len(words) == 2}
    assert rows["isthmus-1"].startswith("waiting at me:7410  5 min  lyon")
    assert "Slurm job 17, has connected" in rows["isthmus-1"]
    assert rows["tsukuba"].startswith("Slurm job 18")
    assert rows["isthmus-2"].startswith("ended with status 3  ")
    assert rows["isthmus-3"].startswith("cancelled  ")
    assert rows["isthmus-4"].startswith("ended  ")
    assert rows["isthmus-4"].endswith("./app 1")
    assert "None" not in str(rows)


def test_json_of_one_job(made, capsys):
    made("isthmus-1", lives=True, state="waiting", here=["lyon"])
    made("isthmus-2", state="ended", status=0, sentence="")
    (row,) = json.loads(shown(capsys, "--json", "1"))
    assert (row["job"], row["status"], row["program"]) == ("isthmus-1", None, ["./app 1"])
    assert [part["here"] for part in row["parts"]] == [True, False]


def test_jobs_that_have_ended_are_forgotten(made, capsys):
    lives = made("isthmus-1", lives=True, state="running")
    ended = made("isthmus-2", state="ended", status=0, sentence="")
    also = made("isthmus-3", state="ended", status=1, sentence="")
    assert shown(capsys, "--forget", "2") == "forgot isthmus-2\n"
    assert not ended.exists()
    assert main(["jobs", "--forget", "1", "3"]) == 2
    assert "'isthmus-1' has not ended" in capsys.readouterr().err
    assert also.exists()
    assert shown(capsys, "--forget") == "forgot isthmus-3\n"
    assert lives.exists()
