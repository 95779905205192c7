"""Jobs whose parts come from the queues of PBS, whose commands are faked (pbs/fake_pbs.py): OpenPBS
is not packaged. Slurm is tried on a real one (tests/lab)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import mpis
import pytest
from marks import MARK, marked_processes
from running import ran
from waiting import eventually

FAKE = Path(__file__).parent / "pbs" / "fake_pbs.py"
SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d: %d\\n", rank, size, sum);
  fflush(stdout);
  if (argc > 1) sleep(100);
  MPI_Finalize();
  return 0;
}
"""
WORLD = [f"{rank} of 4: 6" for rank in range(4)]


class Pbs:
    """Two queues, one for each cluster, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "pbs"
        self.mark = uuid.uuid4().hex
        home, commands = folder / "home", folder / "bin"
        for made in (home, commands, self.state):
            made.mkdir()
        for name in ("qsub", "qstat", "qdel", "qrerun"):
            (commands / name).symlink_to(FAKE)
        (home / ".bash_profile").write_text(f'PATH="{commands}:$PATH"\n')
        self.env = os.environ | {
            MARK: self.mark,
            "HOME": str(home),
            "PATH": f"{commands}:{os.environ['PATH']}",
            "FAKE_PBS": str(self.state),
            "ISTHMUS_HOME": str(folder),
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        }
        self.grid = folder / "grid.toml"
        for cluster in ("east", "west"):
            (self.state / f"queue.{cluster}").touch()
        self.grid.write_text(
            "".join(
                f'[cluster.{cluster}]\nscheduler = "pbs"\nbatch = ["-q {cluster}"]\n'
                for cluster in ("east", "west")
            )
        )

    def command(self, *words: object) -> subprocess.CompletedProcess[str]:
        return ran(words, env=self.env)

    def isthmus(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.command(sys.executable, "-m", "isthmus", *words)

    def submit(self, *words: object) -> Path:
        """The job's folder."""
        done = self.isthmus("submit", "-g", self.grid, "--meet", "localhost", *words)
        assert done.returncode == 0, done.stderr
        (made,) = (self.folder / "jobs").glob("*")
        return made

    def block(self, cluster: str) -> Path:
        """The cluster's queue, until what this returns is removed."""
        file = self.state / f"blocked.{cluster}"
        file.touch()
        return file

    def jobs(self, cluster: str) -> list[str]:
        """The jobs of a queue, in the order in which they were submitted."""
        known = {file.stem: json.loads(file.read_text()) for file in self.state.glob("*.json")}
        return sorted(job for job, said in known.items() if said["queue"] == cluster)

    def word(self, job: str) -> str:
        return str(json.loads((self.state / f"{job}.json").read_text())["state"])

    def all_over(self) -> bool:
        return all(self.word(job) == "F" for queue in ("east", "west") for job in self.jobs(queue))


@pytest.fixture
def pbs(tmp_path: Path) -> Iterator[Pbs]:
    made = Pbs(tmp_path)
    yield made
    for queue in ("east", "west"):
        for job in made.jobs(queue):
            made.command("qdel", job)
    eventually(lambda: not marked_processes(made.mark), "the end of all processes")


@pytest.fixture
def mixed(programs: Path, tmp_path: Path) -> Callable[..., list[object]]:
    """A program of two MPI libraries, with arguments."""
    source = tmp_path / "hello.c"
    source.write_text(SOURCE)
    built = {}
    for mpi in ("openmpi4", "mpich4"):
        built[mpi] = tmp_path / mpi
        subprocess.run([mpis.ALL[mpi].cc, source, "-o", built[mpi]], check=True)

    def words(*more: object) -> list[object]:
        return mpis.on(east=(2, built["openmpi4"], *more), west=(2, built["mpich4"], *more))

    return words


def ended(job: Path) -> dict[str, object]:
    file = job / "state.json"
    eventually(
        lambda: file.exists() and json.loads(file.read_text())["state"] == "ended",
        f"the end of the job; {(job / 'err').read_text()}",
    )
    return dict(json.loads(file.read_text()))


def test_two_jobs_meet(pbs: Pbs, mixed):
    job = pbs.submit("--time", "10min", *mixed())
    done = pbs.isthmus("attach", job.name)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, WORLD), done.stderr
    eventually(pbs.all_over, "the end of both jobs")
    assert f"PBS job {pbs.jobs('east')[0]}" in pbs.isthmus("jobs").stdout
    assert not list(pbs.folder.rglob("*.pem")), "keys of a job that has ended"


def test_one_waits_and_is_given_back(pbs: Pbs, mixed):
    """A user may not call qrerun, so its script makes another job, which is cared for from then on;
    the old one ends, and nobody minds."""
    blocked = pbs.block("west")
    job = pbs.submit("--hold", "1s", *mixed())
    eventually(lambda: len(pbs.jobs("east")) > 1, "another job of the east")
    first, second = pbs.jobs("east")[:2]
    eventually(lambda: pbs.word(first) == "F", "the end of the first one")
    said = job / "err"
    told = f"cluster east: PBS job {second} from now on"
    eventually(lambda: told in said.read_text(), told)
    blocked.unlink()
    assert ended(job)["status"] == 0, said.read_text()
    assert sorted((job / "out").read_text().splitlines()) == WORLD
    last = pbs.jobs("east")[-1]
    assert f"PBS job {last}" in pbs.isthmus("jobs").stdout


def test_one_that_was_given_back_is_cancelled(pbs: Pbs, mixed):
    pbs.block("west")
    job = pbs.submit("--hold", "1s", *mixed())
    eventually(lambda: len(pbs.jobs("east")) > 1, "another job of the east")
    assert pbs.isthmus("cancel", job.name).stdout == f"{job.name}: cancelled\n"
    eventually(pbs.all_over, "the end of all jobs")
    assert not list(pbs.folder.rglob("*.pem")), "keys of a job that has ended"


def test_a_queued_part_is_deleted(pbs: Pbs, mixed):
    """The other has come, and waits in vain."""
    pbs.block("west")
    job = pbs.submit(*mixed())
    eventually(lambda: "cluster east has come" in (job / "err").read_text(), "the east")
    (gone,) = pbs.jobs("west")
    assert pbs.command("qdel", gone).returncode == 0
    said = str(ended(job)["sentence"])
    assert said.startswith(f"cluster west: PBS says that its job {gone} is F"), said
    eventually(pbs.all_over, "the end of both jobs")


@pytest.mark.parametrize("cluster", ["east", "west"])
def test_a_running_part_is_deleted(pbs: Pbs, mixed, cluster: str):
    job = pbs.submit(*mixed("long"))
    eventually(lambda: len((job / "out").read_text().splitlines()) == 4, "all ranks")
    (gone,) = pbs.jobs(cluster)
    assert pbs.command("qdel", gone).returncode == 0
    over = ended(job)
    assert over["status"] != 0
    # The end of the job, or that of a rank, which may be seen first.
    assert re.search(f'cluster "?{cluster}', str(over["sentence"])), over
    eventually(pbs.all_over, "the end of both jobs")


def test_what_pbs_refuses(pbs: Pbs, mixed):
    (pbs.state / "queue.west").unlink()
    done = pbs.isthmus("submit", "-g", pbs.grid, "--meet", "localhost", *mixed())
    assert done.returncode == 1
    assert "cluster west: PBS did not take the job\n  | qsub: Unknown queue" in done.stderr
    eventually(pbs.all_over, "the end of the part that was taken")
