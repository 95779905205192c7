"""Real Slurms, one for each site: ranks under srun, queues, and how schedulers end jobs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
import slurms
from running import Running
from slurms import M4, M5, O4, O5, WORLD, on, queue
from waiting import eventually, with_enough_time

ISTHMUS = [sys.executable, "-m", "isthmus"]

pytestmark = slurms.INSTALLED


@pytest.fixture
def queues(standing):
    lab = standing("queues")
    yield lab
    for site in "ab":
        on(lab, site, "scancel", "--signal=KILL", "--user=root")
        for node in (f"{site}1", f"{site}2"):
            on(lab, site, "scontrol", "update", f"nodename={node}", "state=resume")
        eventually(lambda s=site: not queue(lab, s), f"the end of the jobs of {site}")


def start(lab, *words: object) -> Running:
    command = lab.labs.command("exec", "--lab", lab.id, "--", *ISTHMUS, "run", *words)
    return Running(
        command, env=lab.labs.env, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for_ranks(run: Running) -> None:
    assert run.stdout
    assert run.stderr
    lines = sorted(run.stdout.readline().strip() for _ in WORLD)
    assert lines == WORLD, lines if all(lines) else run.stderr.read()


@pytest.mark.parametrize(
    "libraries", [(O4, O4), (M4, M4), (O4, M4), (O5, M5), (M5, O5)], ids="+".join
)
def test_ranks_under_srun(queues, hello, libraries):
    a, b = libraries
    parts = ["--on", "a", "-n", 2, hello(a), ":", "--on", "b", "-n", 2, hello(b)]
    done = queues.exec(*ISTHMUS, "run", "--timeout", 200, *parts)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == WORLD
    assert done.stderr == ""


BOUND = """
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  char host[64];
  gethostname(host, sizeof host);
  printf("%s %d %s %d\\n", argv[1], rank, host, CPU_COUNT(&set));
  MPI_Finalize();
  return 0;
}
"""
# The hosts of the ranks of two sites, and the cores of each rank.
FILLED = ["a1", "a1", "a2", "a2", "b1", "b1", "b2", "b2"]
IN_TURN = ["a1", "a2", "a1", "a2", "b1", "b2", "b1", "b2"]
PLACES = {"": (FILLED, 2), "--bind-to core": (FILLED, 1), "--map-by node": (IN_TURN, 2),
          "--ppn 2 --bind-to core": (FILLED, 1)}  # fmt: skip


def test_bound(lab, tmp_path):
    """The name is short, since paths of sockets below tmp_path have it."""
    for mpi in (O4, M4):
        mpis.ALL[mpi].build_text(BOUND, tmp_path / mpi)
    run = shlex.join([*ISTHMUS, "run", "--timeout", "100"])
    lines = [f"cd {tmp_path}"]
    for number, options in enumerate(PLACES):
        parts = f"--on a -n 4 ./{O4} {number} : --on b -n 4 ./{M4} {number}"
        lines.append(f"{run} {options} {parts} || exit 1")
    done = lab(
        "run", "queues", "--set", "site.*.slots=2", "--", "sh", "-c", "\n".join(lines), timeout=500
    )
    assert done.returncode == 0, done.stderr
    wanted = [
        f"{number} {rank} {host} {cores}"
        for number, (hosts, cores) in enumerate(PLACES.values())
        for rank, host in enumerate(hosts)
    ]
    assert sorted(done.stdout.splitlines()) == sorted(wanted)


def test_a_job_that_is_queued(queues, hello):
    on(queues, "b", "scontrol", "update", "nodename=b2", "state=drain", "reason=test")
    run = start(queues, hello(O4))
    assert run.stderr
    said = run.stderr.readline()
    assert "cluster b on b0: queued, 10 s (Slurm job " in said
    on(queues, "b", "scontrol", "update", "nodename=b2", "state=resume")
    wait_for_ranks(run)
    assert run.wait(240) == 0


def test_waiting_has_a_limit(queues, hello):
    on(queues, "b", "scontrol", "update", "nodename=b2", "state=drain", "reason=test")

    def waited(seconds: float) -> tuple[int, str]:
        run = start(queues, "--wait", f"{seconds:g}s", hello(O4))
        _, said = run.communicate(timeout=240)
        return run.returncode, said

    status, said = with_enough_time(waited, lambda got: "queued" in got[1], 3)
    assert status == 124
    assert re.search(r"after \d+ s, cluster b on b0: queued, \d+ s \(Slurm job", said)
    assert said.endswith("and --wait allows no more time\n")


def test_a_queued_job_is_cancelled(queues, hello):
    on(queues, "b", "scontrol", "update", "nodename=b2", "state=drain", "reason=test")
    run = start(queues, hello(O4))
    eventually(lambda: queue(queues, "b") == ["PENDING"], "a job in the queue")
    on(queues, "b", "scancel", "--user=root")
    _, said = run.communicate(timeout=240)
    assert run.returncode == 1
    assert "isthmus: cluster b on b0: Slurm ended job" in said.splitlines()[-1]
    assert "somebody cancelled it (scancel)" in said.splitlines()[-1]


@pytest.mark.parametrize("site", ["a", "b"])
def test_a_running_job_is_cancelled(queues, hello, site):
    run = start(queues, hello(M4), 100)
    wait_for_ranks(run)
    on(queues, site, "scancel", "--user=root")
    _, said = run.communicate(timeout=240)
    assert run.returncode != 0
    # srun may end before it hears of it: seen once, on a busy host (2026-11).
    by_slurm = (
        f"cluster {site} on {site}0: Slurm ended job \\d+: somebody cancelled it \\(scancel\\)"
    )
    by_rank = (
        f'rank \\d \\(cluster "{site}"\\) was killed by signal 15 \\(SIGTERM\\), as by scancel'
    )
    assert re.search(f"^isthmus: ({by_slurm}|{by_rank})\n\\Z", said, re.MULTILINE), said
    assert not queue(queues, "a")
    assert not queue(queues, "b")


def test_a_node_fails(queues, hello):
    run = start(queues, hello(O4), 100)
    wait_for_ranks(run)
    on(queues, "b", "scontrol", "update", "nodename=b2", "state=down", "reason=test")
    _, said = run.communicate(timeout=240)
    assert run.returncode != 0
    assert said.startswith("isthmus: cluster b on b0: Slurm ended job")
    assert said.endswith(": node b2 has failed\n")


def test_nothing_is_left(lab):
    done = lab("run", "queues", "--on", "a0", "--", "srun", "-n", 2, "hostname")
    assert sorted(done.stdout.split()) == ["a1", "a2"], done.stderr
    assert not lab.left
    assert not lab.folders
    assert not list(Path("/tmp").glob("spmix_appdir_0_*"))


def test_inside_an_allocation(queues, hello, grid_with):
    """Ranks are a step of it, on the hosts of the grid file; the other cluster queues a job."""
    text = on(queues, "a", "sh", "-c", "cat $ISTHMUS_GRID")
    grid = grid_with(text.replace('host = "a0"\n', 'hosts = "a[1-2]"\n'))
    parts = ["--on", "a", "-n", 2, hello(O4), ":", "--on", "b", "-n", 2, hello(M4)]
    done = queues.labs(
        "exec", "--lab", queues.id, "--on", "a0", "--", "salloc", "-n", 2,
        *ISTHMUS, "run", "--timeout", 200, "-g", grid, *parts,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == WORLD
    assert "queued" not in done.stderr


@pytest.mark.parametrize("parts", [(O4,), (O4, M4)], ids="+".join)
def test_a_heterogeneous_job(queues, hello, parts):
    """Its groups are the clusters, without a grid file."""
    words = [hello(parts[0])]
    if len(parts) > 1:
        words = ["--on", "group0", *words, ":", "--on", "group1", hello(parts[1])]
    done = queues.labs(
        "exec", "--lab", queues.id, "--on", "a0", "--",
        "env", "-u", "ISTHMUS_GRID", "salloc", "-Q", "-n", 1, ":", "-n", 1,
        *ISTHMUS, "run", "--timeout", 200, *words,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["0/2 a1 1", "1/2 a2 1"]
    assert done.stderr == ""
