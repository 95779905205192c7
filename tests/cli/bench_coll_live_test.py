"""coll.c for real: all collectives over Isthmus on this host, and results that are wrong."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from running import ran

from isthmus.cli.cli import main
from isthmus_lab.bench.coll import roster
from isthmus_lab.bench.coll.options import Options
from isthmus_lab.bench.coll.results import run_from_json
from isthmus_lab.bench.coll.tasks import COLLECTIVES, CollTask
from isthmus_lab.measuring.place import loopback

TASKS = [
    *(CollTask(name, 0 if name == "barrier" else 80_008, 2) for name in COLLECTIVES),
    *(CollTask(f"i{name}", 0 if name == "barrier" else 808, 1, tests=2) for name in COLLECTIVES),
    *(CollTask(name, 8_000, 1, interleaved=True) for name in ("allgather", "scan", "reduce")),
]


def test_isthmus_on_this_host(tmp_path: Path):
    options = Options(n=5, mpis=("openmpi",), only=(roster.DIRECT,), tune=False)
    (one,) = roster.contestants(loopback(), options, tmp_path, lambda text: None)
    assert [block.ranks for block in one.blocks] == [3, 2]
    runs = one.measure(TASKS, 1)
    assert [run.task for run in runs] == TASKS
    for run in runs:
        assert run == run_from_json(run.as_json())
        assert (run.ranks, run.round) == (5, 1)
        assert len(run.seconds) == len(run.medians) == run.task.repetitions
        assert all(m <= s for m, s in zip(run.medians, run.seconds, strict=True))
        if run.task.tests is not None:
            assert len(run.overlapped) == run.task.repetitions
            assert all(value >= run.computing > 0 for value in run.overlapped)


def test_the_command(tmp_path: Path, capsys):
    file = tmp_path / "out.json"
    words = ["bench", "coll", "--testbed", "loopback", "-n", "2", "--only", "isthmus"]
    words += ["--collective", "bcast", "--size", "4 KiB", "--repetitions", "2", "--passes", "1"]
    assert main([*words, "--native", "openmpi", "--json", str(file)]) == 0
    said = capsys.readouterr()
    assert "bcast 4 KiB" in said.out
    assert "tuned: wan-latency=" in said.err
    data = json.loads(file.read_text())
    assert [run["task"] for run in data["runs"]] == ["bcast:4096:2"]
    assert data["failures"] == []


BROKEN = r"""
#include <mpi.h>
int MPI_Scan(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int status = PMPI_Scan(out, in, n, type, op, comm);
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 1) ((double*)in)[n - 1] += 1;
  return status;
}
"""


@pytest.mark.parametrize(("task", "status"), [("exscan:80:1", 0), ("scan:80:1", 2)])
def test_wrong_results_are_found(task: str, status: int, tmp_path: Path):
    (tmp_path / "broken.c").write_text(BROKEN)
    program = tmp_path / "coll"
    build = ["mpicc.openmpi", str(roster.COLL), str(tmp_path / "broken.c"), "-o", str(program)]
    subprocess.run(build, check=True, timeout=240)
    done = ran(
        ["mpirun.openmpi", "--oversubscribe", "-n", "2", program, task],
        env={
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1",
        },
    )
    assert done.returncode == status, done.stderr
    assert ('"scan:80:1": the result is wrong' in done.stderr) == (status != 0)


@pytest.mark.parametrize(
    "word", ["bkast:8:1", "bcast:8", "bcast:8:0", "bcast@random:8:1", "scan:12:1", "bcast:8:1:1"]
)
def test_words_that_are_no_task(word: str, tmp_path: Path):
    program = tmp_path / "coll"
    subprocess.run(["mpicc.mpich", str(roster.COLL), "-o", str(program)], check=True, timeout=240)
    done = ran([program, word])
    assert done.returncode != 0
    assert f'"{word}": ' in done.stderr


def test_in_a_lab(tmp_path: Path, monkeypatch, capfd):
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun may not be opened here, so there are no labs")
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "python"))
    file, contestants = tmp_path / "out.json", ("isthmus-direct", "native-openmpi4.1-forced")
    words = ["bench", "coll", "--testbed", "hablot", "--native", "openmpi", "--json", str(file)]
    words += ["--no-tune"]
    words += [word for name in contestants for word in ("--only", name)]
    words += ["--repetitions", "2", "--passes", "1", "--size", "8 B", "--interleaved"]
    assert main([*words, "--collective", "bcast", "--collective", "barrier"]) == 0
    assert "bcast 8 B, interleaved" in capfd.readouterr().out
    data = json.loads(file.read_text())
    assert data["failures"] == []
    runs = [run_from_json(run) for run in data["runs"]]
    assert len(runs) == 8
    assert {run.contestant for run in runs} == set(contestants)
    for run in runs:
        assert run.ranks == 4
        assert min(run.seconds) >= 5.8e-3  # none is quicker than the wire
    assert data["wires"][""]["delay"] >= 5.8e-3
    assert data["wires"][""]["bandwidth"] > 0
    assert data["machines"][""]["late"] >= 0
