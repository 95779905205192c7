"""`isthmus join` and `isthmus leave`: what runs answer whose agents are fakes."""

import asyncio
import json
import os
import re
import signal
import socket
import threading
from types import SimpleNamespace

import pytest
from seeing_test import isthmus, place, running  # noqa: F401
from waiting import eventually

from isthmus.base.errors import RunError
from isthmus.base.limits import Limits
from isthmus.base.outcome import Ending, Weight
from isthmus.base.relay import Voice
from isthmus.grid import grid as grids
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.run.growing import Growing
from isthmus.run.newcomers import MOST, Newcomers
from isthmus.seeing import newcomers, runs

SOUTH = "[cluster.south]\n"


@pytest.fixture
def more(tmp_path):
    def write(text):
        file = tmp_path / "more.toml"
        file.write_text(text)
        return file

    return write


def test_all_agents_hear_of_it(pair, place, more):  # noqa: F811
    with running(pair) as run:
        done = isthmus("join", run.pid, "-g", more(SOUTH))
        said = 'cluster "south" has joined; MPI_Comm_spawn can start processes there\n'
        assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
        assert isthmus("leave", "--cluster", "south").returncode == 0
        spares = json.loads(isthmus("top", "--once", "--json").stdout)["spares"]
        assert spares == []
        assert isthmus("join", "-g", more(SOUTH)).returncode == 0
        text = isthmus("top", "--once", "--interval", "100ms").stdout
        assert re.search(r"south +0 +0 +spare, for MPI_Comm_spawn", text)


@pytest.mark.parametrize(
    ("words", "text", "status", "said"),
    [
        (["nobody"], SOUTH, 2, "you have no run 'nobody' on this host"),
        ([], "[cluster.east]\n", 2, "more.toml:1: cluster.east is the name of a cluster or relay"),
        ([], "[cluster.south]\nslot = 3\n", 2, "more.toml:2: cluster.south.slot"),
        ([], "[cluster.south\n", 2, "more.toml"),
        (["--cluster", "suoth"], SOUTH, 2, "did you mean 'south'"),
        ([], SOUTH + "#" * (300 << 10), 2, "has more than 256 KiB"),
        (["-g", "/nowhere/grid.toml"], SOUTH, 2, "/nowhere/grid.toml"),
    ],
)
def test_what_is_refused(pair, place, more, words, text, status, said):  # noqa: F811
    with running(pair):
        file = [] if "-g" in words else ["-g", more(text)]
        done = isthmus("join", *words, *file)
        assert (done.returncode, done.stdout) == (status, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_no_file_and_no_run(place, more, monkeypatch):  # noqa: F811
    monkeypatch.delenv("ISTHMUS_GRID", raising=False)
    done = isthmus("join")
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a file with the clusters that join" in done.stderr
    done = isthmus("join", "-g", more(SOUTH))
    assert done.returncode == 2
    assert "you have no run on this host" in done.stderr
    done = isthmus("leave")
    assert done.returncode == 2
    assert "Name it by --cluster" in done.stderr


def test_clusters_are_bounded(pair, place, more):  # noqa: F811
    """Those that have left count as well: processes keep their names."""
    with running(pair):
        done = isthmus("join", "-g", more("".join(f"[cluster.c{i}]\n" for i in range(MOST - 1))))
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) == MOST - 1
        assert isthmus("leave", "--cluster", "c0").returncode == 0
        two = isthmus("join", "-g", more("[cluster.d0]\n[cluster.d1]\n"))
        assert (two.returncode, two.stdout) == (1, "")
        assert f"{MOST - 1} clusters have joined this run, and at most {MOST} can" in two.stderr
        assert isthmus("join", "-g", more("[cluster.d0]\n")).returncode == 0
        assert isthmus("join", "-g", more("[cluster.d1]\n")).returncode == 1


def test_a_run_of_an_older_release(place, more):  # noqa: F811
    """It does not know the question."""
    place.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / "isthmus-old"))
        listening.listen()

        def answer():
            for said in ({"started": 1}, {"error": "this run does not know the question 'join'"}):
                connection, _ = listening.accept()
                with connection, connection.makefile("rwb") as file:
                    file.readline()
                    file.write(json.dumps(said).encode() + b"\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        done = isthmus("join", "-g", more(SOUTH))
        thread.join()
    assert done.returncode == 1
    assert "does not know how clusters join" in done.stderr


def test_a_stopped_run_is_not_asked(pair, place, more, monkeypatch):  # noqa: F811
    """The user hears that it does not answer, so no cluster may join when it goes on."""
    monkeypatch.setattr(runs, "PATIENCE", 0.2)
    with running(pair) as run:
        os.kill(run.pid, signal.SIGSTOP)
        eventually(lambda: not runs.every()[0].about, "a run that does not answer")
        with pytest.raises(RunError, match="does not answer") as refusal:
            newcomers.join(grid=more(SOUTH))
        assert "continue it by `fg`" in refusal.value.remedy
        os.kill(run.pid, signal.SIGCONT)
        eventually(lambda: runs.every()[0].about, "a run that answers again")
        assert json.loads(isthmus("top", "--once", "--json").stdout)["spares"] == []


def test_strange_questions(pair, place):  # noqa: F811
    with running(pair):
        (run,) = runs.every()
        for keys in (
            {},
            {"text": 3, "name": None},
            {"text": SOUTH, "clusters": [4]},
            {"clusters": 7},
        ):
            with runs.connect(run) as line:
                answer = line.ask("join", **keys)
                assert answer["status"] == 2, answer
            with runs.connect(run) as line:
                assert line.ask("leave")["status"] == 2


def refused(**settings) -> str:
    """The answers of a run with this plan, before its ranks have started."""
    text = "[cluster.east]\n[cluster.west]\n"
    plan = make_plan(grids.parse(text, "grid.toml"), [Part(["x"], 2, **settings.pop("part", {}))])
    for key, value in settings.items():
        setattr(plan, key, value)
    answer = Newcomers(plan, Ending(), Voice(verbose=False)).answer({"ask": "join", "text": SOUTH})
    assert answer["status"] == 1
    return f"{answer['error']} {answer['remedy']}"


def test_runs_that_no_cluster_joins():
    assert "has not started its ranks yet Try again." in refused()
    assert "isthmus submit --spare CLUSTER" in refused(joining=True)
    assert "Start it with --guests" in refused(part={"on": "east"})


def test_a_spare_cluster_that_forwards_cannot_leave():
    """Its gateways join others from the start, though no process has been spawned there."""
    text = (
        "[cluster.east]\n[cluster.west]\n[cluster.south]\n"
        '[[link]]\nbetween = ["east", "west"]\n[[link]]\nbetween = ["west", "south"]\n'
    )
    parts = [Part(["x"], 1, on="east"), Part(["x"], 1, on="south")]
    plan = make_plan(grids.parse(text, "grid.toml"), parts, spares=["west"])
    assert [cluster.name for cluster in plan.forwarding] == ["west"]
    member = SimpleNamespace(
        lost=False, leaving=False, plan=SimpleNamespace(gateways=plan.gateways)
    )
    growing = Growing(plan, [member], None, Limits())
    answering = Newcomers(plan, Ending(), Voice(verbose=False))

    async def ask():
        answering.begin(growing)
        return answering.answer({"ask": "leave", "cluster": "west"})

    answer = asyncio.run(ask())
    assert answer["status"] == 1
    assert 'cluster "west" has gateways already' in answer["error"]
    assert answer["remedy"] == "Only a cluster without gateways can leave."
    assert [spare.name for spare in plan.spares] == ["west"]


def test_a_run_that_is_ending():
    plan = make_plan(grids.two_halves(), [Part(["x"], 2)])

    async def ask():
        ending = Ending()
        ending.end(0, "", Weight.USER)
        return Newcomers(plan, ending, Voice(verbose=False)).answer({"ask": "leave"})

    assert asyncio.run(ask())["error"] == f"{plan.job} is ending"
