"""`isthmus ps` and `isthmus top`: what they say of runs whose agents are fakes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from job_signals_test import started
from rich.console import Console
from running import Running, ran
from scenarios import spawned
from waiting import eventually

from isthmus.seeing import runs, screen, sight
from isthmus.seeing.sight import Cluster, Rank, Sight, Traffic

RECV = {"call": "MPI_Recv", "from": 1, "tag": 5, "seconds": 12.3, "comm": "mine", "size": 2}
UP = [{"say": {"op": "joined", "ranks": 1}}, {"say": {"op": "output", "fd": 1}, "text": "up\n"}]
GATEWAYS = 0x80000000, 0x80000001


@pytest.fixture
def place(monkeypatch):
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own are too long for sockets
    monkeypatch.setenv("ISTHMUS_HOME", str(folder))
    yield folder / "runs"
    shutil.rmtree(folder)


def here(rank, *waits, **more):
    said = {"rank": rank, "host": "node", "pid": 70 + rank, "program": "./app x"}
    return {"op": "where", "here": {**said, "waits": list(waits), "awaited": [], **more}}


def link(source, messages, **more):
    count = {"messages": messages, "bytes": 24, "frames": 5, "wire_bytes": 2048, "streams": 2}
    ends = {"from": GATEWAYS[source], "to": GATEWAYS[1 - source]}
    return {**ends, **count, "rtt": 0.0123, "waiting": 4096, "lost_bytes": 99, **more}


def scenarios(*, east_answers=True):
    """Rank 0 waits for rank 1, which has sent something without gateways."""
    east, west = spawned(*UP), spawned(*UP)
    wait = here(0, RECV) if east_answers else {"op": "look"}
    east["on"]["where"] = [{"say": wait}]
    direct = [{"to": 0, "conduits": 1, "messages": 7, "bytes": 700, "wire_bytes": 900}]
    west["on"]["where"] = [{"say": here(1, direct=direct)}]
    east["on"]["look"] = [{"say": {"op": "look", "links": [link(0, 3)], "ranks": {"east": 1}}}]
    west["on"]["look"] = [{"say": {"op": "look", "links": [link(1, 2)], "ranks": {"west": 1}}}]
    return east, west


@contextmanager
def running(pair, **keys):
    with started(pair(*scenarios(**keys))) as run:
        try:
            yield run
        finally:
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=240)


def isthmus(*words, timeout=240):
    return ran(
        [sys.executable, "-m", "isthmus", *words],
        timeout=timeout,
        env={**os.environ, "TERM": "dumb"},
    )


def test_runs_are_listed_while_they_live(pair, place):
    gone = f"ISTHMUS_HOME names {place}, which does not exist"
    assert isthmus("ps").stdout == f"you have no run on this host; {gone}\n"
    with running(pair) as run:
        head, _, line = isthmus("ps").stdout.splitlines()
        assert head.split() == ["run", "process", "since", "ranks", "clusters", "program"]
        assert re.search(rf"isthmus-\w+ +{run.pid} .* 2 +east, west +x$", line)
        (listed,) = json.loads(isthmus("ps", "--json").stdout)
        assert (listed["pid"], listed["size"]) == (run.pid, 2)
        assert place.stat().st_mode & 0o777 == 0o700
        assert all(path.stat().st_mode & 0o777 == 0o600 for path in place.iterdir())
    assert list(place.iterdir()) == []


def test_ranks_of_a_run(pair, place):
    with running(pair) as run:
        text = isthmus("ps", run.pid).stdout.splitlines()
        assert text[0].split() == ["rank", "cluster", "host", "process", "state", "program"]
        assert text[2].split() == ["0", "east", "node", "70", "waiting", "./app", "x"]
        assert text[3].split() == ["1", "west", "node", "71", "computing", "./app", "x"]
        job = json.loads(isthmus("ps", "--json").stdout)[0]["job"]
        for name in (job, job[:12], job[-4:]):
            told = json.loads(isthmus("ps", name, "--json").stdout)
            assert [(r["rank"], r["pid"]) for r in told] == [(0, 70), (1, 71)]


def test_a_view(pair, place):
    with running(pair):
        text = isthmus("top", "--once", "--interval", "100ms").stdout
    assert re.search(r"east +fakehost +1 +1 +1 in MPI, waiting for another cluster", text)
    assert re.search(r"west +fakehost +1 +1 +1 computing", text)
    assert re.search(r"east -> west +0 B/s +12.3 ms +4.096 kB +99 B +2 +3 +24 B", text)
    assert re.search(r"west -> east +0 B/s .* 2 +24 B", text)
    assert re.search(r"west -> east, direct +0 B/s +0 B +0 +7 +700 B", text)
    assert "rank 0: MPI_Recv from rank 1 with tag 5, on mine of 2 ranks, for 12 s" in text


def test_json_until_the_end_of_the_run(pair, place):
    with started(pair(*scenarios())) as run:
        top = Running(
            [sys.executable, "-m", "isthmus", "top", "--json", "--interval", "0.1"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        looks = [json.loads(top.stdout.readline()) for _ in range(3)]
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=240)
    _, err = top.communicate(timeout=240)
    assert (top.returncode, err) == (0, f"isthmus: {looks[0]['job']} has ended\n")
    assert looks[0]["interval"] == 0
    assert looks[1]["interval"] >= 0.1
    assert [t["way"] for t in looks[1]["traffic"]] == ["link", "link", "direct"]
    assert looks[1]["traffic"][0]["rate"] == 0
    assert looks[1]["ranks"][0]["state"] == "waiting"


def test_where(pair, place):
    with running(pair):
        said = isthmus("top", "--where")
    assert said.stdout.splitlines() == [
        "rank 0 (node, process 70): MPI_Recv from rank 1 with tag 5, on mine of 2 ranks, for 12 s",
        "rank 1 (node, process 71): in no call that waits for another cluster",
    ]


def test_a_rank_that_is_silent(pair, place):
    with running(pair, east_answers=False):
        ranks = json.loads(isthmus("top", "--once", "--json").stdout)["ranks"]
    assert [(rank["state"], rank["pid"]) for rank in ranks] == [("silent", None), ("computing", 71)]


def test_several_runs_want_a_name(pair, place, tmp_path):
    with running(pair) as one:
        command = one.args
        with Running(command, stdout=subprocess.PIPE) as other:
            assert other.stdout.readline() == "up\n"
            done = isthmus("top", "--once")
            jobs = [run["job"] for run in json.loads(isthmus("ps", "--json").stdout)]
            assert done.returncode == 2
            assert f"you have 2 runs on this host: '{jobs[0]}', '{jobs[1]}'" in done.stderr
            assert "several runs match 'isthmus-'" in isthmus("ps", "isthmus-").stderr
            other.send_signal(signal.SIGTERM)
            other.communicate(timeout=240)


def test_runs_that_are_not_there(pair, place):
    done = isthmus("top", "nothing")
    assert done.returncode == 2
    assert "there is no run 'nothing': you have no run on this host" in done.stderr
    with running(pair):
        done = isthmus("ps", "nothing")
        assert "you have no run 'nothing' on this host" in done.stderr
        assert "`isthmus ps` lists them" in done.stderr


def test_a_run_that_was_killed_leaves_nothing_that_confuses(pair, place):
    with started(pair(*scenarios())) as run:
        run.kill()
        run.communicate(timeout=240)
    eventually(lambda: not list(place.iterdir()), "a folder without the run")
    assert isthmus("ps").stdout == "you have no run on this host\n"


def test_the_socket_of_a_run_killed_with_its_sweeper_goes_with_the_next_question(pair, place):
    with started(pair(*scenarios())) as run:
        kill = ["pkill", "-KILL", "-f", f"isthmus-sweep {place}/"]
        eventually(lambda: subprocess.run(kill, check=False).returncode == 0, "a sweeper")
        run.kill()
        run.communicate(timeout=240)
    assert len(list(place.iterdir())) == 1
    assert isthmus("ps").stdout == "you have no run on this host\n"
    assert list(place.iterdir()) == []


def test_a_run_that_is_stopped_is_told(pair, place, monkeypatch):
    monkeypatch.setattr(runs, "PATIENCE", 0.2)
    with running(pair) as run:
        os.kill(run.pid, signal.SIGSTOP)
        eventually(lambda: not runs.every()[0].about, "a run that does not answer")
        with pytest.raises(Exception, match=r"there is no run '12'|does not answer"):
            raise runs.ended(runs.every()[0])
        os.kill(run.pid, signal.SIGCONT)


def test_a_folder_of_others_is_not_used(pair, place):
    place.mkdir(mode=0o755)
    with started(pair(*scenarios())) as run:
        done = isthmus("ps")
        assert done.returncode == 2
        assert f"ISTHMUS_HOME: {place} is not a folder of yours alone" in done.stderr
        assert f"chmod 700 {place}" in done.stderr
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=240)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("interval", ["0", "2h", "soon", "-1"])
def test_wrong_intervals(place, interval):
    done = isthmus("top", "--interval", interval)
    assert done.returncode == 2
    assert "--interval" in done.stderr


ANSWER = {
    "job": "isthmus-1",
    "program": "x",
    "started": 0,
    "alone": False,
    "clusters": [],
    "ranks": [],
}


def test_a_folder_that_another_has_taken_keeps_no_run_away(monkeypatch, tmp_path):
    """Its name in /tmp is known to all users of the host."""
    monkeypatch.delenv("ISTHMUS_HOME", raising=False)
    monkeypatch.setattr(runs, "_bases", lambda: [tmp_path])
    taken = tmp_path / f"isthmus-runs-{os.getuid()}"
    taken.mkdir()
    taken.chmod(0o777)
    own = runs.own_folder()
    assert own != taken
    assert runs.is_private(own)
    assert runs.own_folder() == own
    assert runs.folders() == [own]


def test_rates_come_of_two_looks():
    first = sight.read({**ANSWER, "time": 10, "links": [link(0, 3)]})
    assert first.traffic[0].rate is None
    more = {**link(0, 9), "wire_bytes": 5048, "lost_bytes": 199}
    second = sight.read({**ANSWER, "time": 12, "links": [more, link(1, 1)]}, first)
    assert [one.rate for one in second.traffic] == [1500, 1024]
    assert second.traffic[0].lost_now == 100


def printed(what, width):
    console = Console(width=width, highlight=False)
    with console.capture() as text:
        console.print(what)
    return [line.rstrip() for line in text.get().splitlines()]


def many(clusters, *, waits=0):
    names = [f"site{i}" for i in range(1, clusters + 1)]
    pairs = [(a, b) for a in names for b in names if a != b]
    ranks = [
        Rank(i, name, "node", 70 + i, "./app", "waiting" if i < waits else "computing",
             f"MPI_Recv from rank {i + 1}", 60.0 - i)
        for i, name in enumerate(names)
    ]  # fmt: skip
    traffic = [
        Traffic(a, b, "link", 3, 24, 2048, rate=float(100 * i), rtt=0.01, waiting=0, lost=0,
                lost_now=0, streams=1)
        for i, (a, b) in enumerate(pairs)
    ]  # fmt: skip
    return Sight(
        "isthmus-1", "./app " + 200 * "x", 0.0, 9.0, False,
        [Cluster(name, "node", 1, 1, "running") for name in names], traffic, ranks, 2.0,
    )  # fmt: skip


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_rows_stay_whole_in_a_narrow_terminal(width):
    sight = many(3)
    lines = printed(screen.ranks_table(sight.ranks), width)
    assert len(lines) == 2 + 3
    assert [line.split()[0] for line in lines] == ["rank", lines[1], "0", "1", "2"]
    about = {"pid": 12, "started": 1, "size": 3, "program": 99 * "x", "clusters": []}
    assert len(printed(screen.runs_table([runs.Run(Path("isthmus-5a42e7d1"), about)]), width)) == 3
    lines = printed(screen.live(sight), width)
    assert lines[0].startswith("isthmus-1  3 ranks")
    for one in sight.traffic:
        (line,) = (line for line in lines if line.startswith(f"{one.source} -> {one.target} "))
        assert line.split()[3:5] == [f"{one.rate:.0f}", "B/s"]


def test_columns_are_left_out_only_where_there_is_no_room():
    def heads(width):
        lines = printed(screen.live(many(2)), width)
        return next(line for line in lines if line.startswith("link")).split()

    wide, narrow, least = heads(160), heads(60), heads(40)
    assert " ".join(wide) == "link rate round trip backlog lost streams messages bytes"
    assert narrow[:2] == least[:2] == ["link", "rate"]
    assert len(wide) > len(narrow) > len(least)


@pytest.mark.parametrize("width", [60, 120])
def test_a_screen_has_room_for_what_is_waited_for(width):
    lines = printed(screen.live(many(8, waits=6), room=32), width)
    assert len(lines) <= 32
    waits = lines[lines.index("waiting:") + 1 :]
    assert [line.split(":")[0].strip() for line in waits[:3]] == ["rank 0", "rank 1", "rank 2"]
    assert any("site8 -> site7" in line for line in lines), "the busiest"
    shown = sum("->" in line for line in lines)
    assert f"and {56 - shown} more; --once shows all" in lines
    whole = printed(screen.live(many(8, waits=6)), 120)
    assert sum("->" in line for line in whole) == 56


def test_many_clusters_are_not_all_named_in_a_list_of_runs():
    about = {"clusters": [{"name": f"site{i}"} for i in range(1, 9)]}
    line = printed(screen.runs_table([runs.Run(Path("isthmus-1"), about)]), 120)[2]
    assert "site1, site2, site3, site4 and 4 more" in line
    assert "site5" not in line


def test_a_terminal_shows_it_until_q(pair, place):
    with running(pair):
        ours, theirs = os.openpty()
        with Running(
            [sys.executable, "-m", "isthmus", "top", "--interval", "60s"],
            stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"},
        ) as top:  # fmt: skip
            os.close(theirs)
            shown = b""
            while b"MPI_Recv from rank 1" not in shown:
                shown += os.read(ours, 65536)
            os.write(ours, b"q")
            assert top.wait(60) == 0
        os.close(ours)
