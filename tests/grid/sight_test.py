"""Real runs as others see them: `isthmus ps`, `isthmus top`, and the timeline of --trace."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import mpis
import pytest
from running import Running
from trace_events import Timeline
from waiting import eventually, with_enough_time

SOURCE = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static double in[20000], out[20000];
int main(int argc, char** argv) {
  int rank, size, rounds = atoi(argv[1]);
  MPI_Request requests[2], barrier;
  MPI_Status statuses[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int other = (rank + size / 2) % size;
  printf("%d %d\\n", rank, (int)getpid());
  fflush(stdout);
  for (int i = 0; i < rounds; ++i) {
    MPI_Bcast(in, 20000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Irecv(in, 1000, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, requests);
    MPI_Isend(out, 1000, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, statuses);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    usleep(1000);
    MPI_Wait(&barrier, statuses);
  }
  if (argc > 2 && !strcmp(argv[2], "hang") && rank == 0)
    MPI_Recv(in, 1, MPI_DOUBLE, size - 1, 7, MPI_COMM_WORLD, statuses);
  if (argc > 2 && !strcmp(argv[2], "sleep")) sleep(600);
  MPI_Finalize();
  return 0;
}
"""
PAIRS = [("openmpi4", "openmpi4"), ("mpich4", "mpich4"), ("openmpi4", "mpich4")]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("seen")
    return cache(lambda library: mpis.ALL[library].build_text(SOURCE, folder / library))


@pytest.fixture(params=PAIRS, ids="-".join)
def parts(request, built: Callable[[str], Path]) -> Callable[..., list[object]]:
    """The words that run it on two clusters, two ranks each."""

    def words(*arguments: object) -> list[object]:
        east, west = (built(library) for library in request.param)
        return mpis.on(east=(2, east, *arguments), west=(2, west, *arguments))

    return words


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tempfile.mkdtemp(dir="/tmp")  # pytest's own are too long for sockets
    monkeypatch.setenv("ISTHMUS_HOME", folder)
    yield
    shutil.rmtree(folder)


@contextmanager
def running(*words: object, ranks: int) -> Iterator[dict[int, int]]:
    """The processes of its ranks while it runs."""
    command = [sys.executable, "-m", "isthmus", "run", *map(str, words)]
    own = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    with Running(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=os.environ | own
    ) as process:
        assert process.stdout
        try:
            lines = [process.stdout.readline().split() for _ in range(ranks)]
            yield {int(rank): int(pid) for rank, pid in lines}
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=240)


def test_a_hang_is_seen(isthmus, parts, monkeypatch):
    monkeypatch.setenv("ISTHMUS_REACH", "gateway")
    monkeypatch.setenv("ISTHMUS_DEBUG_LEG", "socket")  # memory has no round trip
    with running(*parts(2, "hang"), ranks=4) as pids:
        line = (
            rf"rank 0 \(\S+, process {pids[0]}\): MPI_Recv from rank 3 with tag 7, on "
            r"MPI_COMM_WORLD of 4 ranks, for \d+ s"
        )
        eventually(lambda: re.search(line, isthmus("top", "--where").stdout), "a hang")
        told = json.loads(isthmus("ps", "isthmus", "--json").stdout)
        assert {rank["rank"]: rank["pid"] for rank in told} == pids
        assert told[0]["state"] == "waiting"
        assert all("hang" in rank["program"] for rank in told)
        os.kill(pids[0], signal.SIGSTOP)
        try:
            view = json.loads(isthmus("top", "--once", "--json", "--interval", "0.2").stdout)
            assert view["ranks"][0]["state"] == "silent"
            assert view["ranks"][0]["pid"] == pids[0]
        finally:
            os.kill(pids[0], signal.SIGCONT)
        links = {(t["source"], t["target"]): t for t in view["traffic"] if t["way"] == "link"}
        assert links["east", "west"]["bytes"] > 2 * 20000 * 8
        assert links["east", "west"]["rtt"] > 0
        text = isthmus("top", "--once", "--interval", "0.2").stdout
        assert re.search(r"east -> west +\d", text)
        assert "MPI_Recv from rank 3 with tag 7" in text


def test_what_goes_by_memory_is_seen(isthmus, built):
    with running("-n", 2, built("openmpi4"), 20, "sleep", ranks=2):

        def sent() -> bool:
            view = json.loads(isthmus("top", "--once", "--json", "--interval", "0.2").stdout)
            ways = {(t["source"], t["way"]): t["messages"] for t in view["traffic"]}
            return min(ways.get(("east", "memory"), 0), ways.get(("west", "memory"), 0)) >= 20

        eventually(sent, "what was sent by memory")


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_ranks_of_a_native_job_are_listed(isthmus, built, library):
    with running("--on", "east", "-n", 2, built(library), 1, "sleep", ranks=2) as pids:
        told = json.loads(isthmus("ps", "isthmus", "--json").stdout)
        assert {rank["rank"]: rank["pid"] for rank in told} == pids
        assert all("sleep" in rank["program"] for rank in told)
        done = isthmus("top", "--where")
        assert done.returncode == 1
        assert "no rank of isthmus-" in done.stderr


# The leg of a link between gateways has no number of conduits, and a timeline does not know it.
ROW = re.compile(
    r"│ ([\w/]+ -> [\w/]+)(?:, memory(?! \()(?= ))?(, \w+(?: \w+)?)?(?: \(\d+\))? *"
    r"│ +(\d+) │ +(\d+) │"
)


def crossed(stats: str) -> dict[str, tuple[int, int]]:
    """What --stats prints."""
    return {
        name + way: (int(messages), int(count)) for name, way, messages, count in ROW.findall(stats)
    }


@pytest.mark.parametrize("reach", ["gateway", ""])
def test_the_timeline(isthmus, parts, tmp_path, monkeypatch, reach):
    monkeypatch.setenv("ISTHMUS_REACH", reach)
    monkeypatch.setenv("ISTHMUS_COLL", "bcast=magpie,allreduce=magpie")  # by messages
    file = tmp_path / "run.json.gz"
    done = isthmus.well("run", "--stats", "--trace", file, *parts(10))
    assert "trace" not in done.stderr
    line = Timeline(file)
    assert line.about["missing"] == []
    assert line.counted() == crossed(done.stderr)
    ways = [count for name, (_, count) in line.counted().items() if name.startswith("east -> west")]
    assert sum(ways) > 10 * 20000 * 8  # through gateways until the direct conduits stand
    names = line.processes().values()
    assert sorted(name.partition(" (")[0] for name in names if name.startswith("rank")) == [
        f"rank {rank}" for rank in range(4)
    ]
    for rank in range(4):
        calls = [e["name"] for e in line.slices(f"rank {rank}", "call")]
        for call in ("MPI_Bcast", "MPI_Allreduce", "MPI_Irecv", "MPI_Isend", "MPI_Ibarrier"):
            assert calls.count(call) == 10, call
        collectives = [
            e["name"].partition(":")[0] for e in line.slices(f"rank {rank}", "collective")
        ]
        assert [collectives.count(name) for name in ("bcast", "allreduce", "barrier")] == [10] * 3
        assert line.slices(f"rank {rank}", "phase")
        of_program = [
            e for e in line.slices(f"rank {rank}", "receive") if e["args"]["of"] == "the program"
        ]
        assert [e["args"]["bytes"] for e in of_program] == [8000] * 10
    arrows = list(line.arrows())
    assert len(arrows) >= 40
    assert all(begun <= ended for begun, ended in arrows)  # the clock of one host is one


def test_what_is_probed_and_what_windows_do_is_in_it(isthmus, programs, tmp_path):
    program = mpis.ALL["mpich4"].build(Path(__file__).parent / "profile" / "probed.c", programs)
    file = tmp_path / "run.json"
    isthmus.well("run", "--trace", file, "-n", 2, program)
    line = Timeline(file)
    received = line.slices("rank 1", "receive")
    sizes = [e["args"]["bytes"] for e in received if e["args"]["of"] == "the program"]
    assert sorted(sizes) == [10 * (i + 1) for i in range(10)]
    assert [e["args"]["bytes"] for e in received].count(100000) == 5
    puts = [e for e in line.slices("rank 0", "call") if e["name"] == "MPI_Put"]
    assert len(puts) == 5
    assert not any("bytes" in e.get("args", {}) for e in puts)  # records of windows do not count
    sent = sum(len(line.slices(f"rank {rank}", "send")) for rank in (0, 1))
    assert len(list(line.arrows())) == sent


def test_a_ring_that_overflows_is_told(isthmus, built, tmp_path):
    file = tmp_path / "run.json"
    done = isthmus.well(
        "run", "--stats", "--trace", file, "--trace-size", "4KiB", "-n", 2, built("mpich4"), 20
    )
    found = re.search(r"the trace lacks the first (\d+) events of rank \d", done.stderr)
    assert found
    assert re.search(r"--trace-size \d+KiB would have kept all", done.stderr)
    line = Timeline(file)
    lost = [one["events"] for one in line.about["missing"]]
    assert max(lost) == int(found[1])
    marks = [e for e in line.events if e["name"] == "earlier events are missing"]
    assert sorted(e["args"]["events"] for e in marks) == sorted(lost)
    assert line.counted() == crossed(done.stderr)


def test_a_run_that_is_ended_leaves_its_timeline(isthmus, built, tmp_path):
    file = tmp_path / "run.json"
    done = with_enough_time(
        lambda seconds: isthmus(
            *("run", "--trace", file, "--timeout", seconds, "-n", 2, built("openmpi4"), 2, "hang")
        ),
        lambda done: "MPI_Recv from rank 1 with tag 7" in done.stderr,
        8,
    )
    assert done.returncode == 124, done.stderr
    line = Timeline(file)
    calls = line.slices("rank 0", "call")
    assert [e["name"] for e in calls if e["args"].get("unfinished")] == ["MPI_Recv"]


def test_processes_that_were_spawned_are_in_it(isthmus, programs, tmp_path):
    program = mpis.ALL["mpich4"].build(mpis.PROGRAMS / "meeting" / "spawn.c", programs)
    file = tmp_path / "run.json"
    done = isthmus.well("run", "--stats", "--trace", file, "-n", 4, program)
    line = Timeline(file)
    assert line.counted() == crossed(done.stderr)
    assert any("/" in name.partition(" -> ")[0] for name in line.counted())
    assert line.slices("rank 4 (", "call")
    assert line.about["missing"] == []
