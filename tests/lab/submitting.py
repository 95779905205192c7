"""Shared parts of the tests of submitted jobs: two real Slurms, a home for what is submitted, and
the state of a job."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from slurms import queue
from waiting import eventually

STEADY = mpis.ROOT / "tests" / "grid" / "survive" / "steady.c"
BUILT = mpis.ROOT / "build" / "tests"


class Queues:
    """The standing lab `queues`, its frontend a0, and a home of its own for what is submitted."""

    def __init__(self, lab, folder: Path) -> None:
        self.lab = lab
        self.folder = folder
        (folder / "home").mkdir()

    def on(self, site: str, *words: object) -> subprocess.CompletedProcess[str]:
        env = ["env", f"ISTHMUS_HOME={self.folder}", f"HOME={self.folder}/home"]
        return self.lab.labs("exec", "--lab", self.lab.id, "--on", f"{site}0", "--", *env, *words)

    def isthmus(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.on("a", sys.executable, "-m", "isthmus", *words)

    def submit(self, *words: object) -> Path:
        """The job's folder."""
        before = set((self.folder / "jobs").glob("*"))
        done = self.isthmus("submit", *words)
        assert done.returncode == 0, done.stderr
        (made,) = set((self.folder / "jobs").glob("*")) - before
        return made

    def drain(self, site: str) -> None:
        self.on(site, "scontrol", "update", f"nodename={site}2", "state=drain", "reason=test")

    def resume(self, site: str) -> None:
        self.on(site, "scontrol", "update", f"nodename={site}2", "state=resume")

    def start_now(self, site: str) -> None:
        """Ends the rest of two minutes that Slurm gives a job before it starts again. It waits two
        seconds after the nodes are idle."""
        # Nodes are asked after the queue: they are idle before a run, too.
        rests = "jobs=$(squeue -h -t PD -o '%i %r %S' | grep BeginTime)"
        busy = "sinfo -h -N -o %T | grep -qv -e idle -e drained"
        far = '[ $(date -d "$start" +%s) -gt $(($(date +%s) + 10)) ]'
        each = f"{far} && scontrol update jobid=$job starttime=now+2seconds"
        loop = f'echo "$jobs" | while read -r job why start; do {each}; done'
        self.on(site, "sh", "-c", f'{rests}; [ -z "$jobs" ] || {busy} || {loop}')

    def show(self, job: Path) -> None:
        files = (p for p in job.iterdir() if p.is_file() and p.suffix not in (".pem", ".submit"))
        print(*(f"{p.name}: {p.read_text()}" for p in files), sep="\n")
        print(*(f"{p.name}: {p.read_text()}" for p in (self.folder / "home").rglob("*.out")))
        for site in "ab":
            print(self.on(site, "scontrol", "show", "job").stdout)
            print(self.on(site, "sinfo", "-N", "--long").stdout)
        for log in sorted((self.lab.labs.home / self.lab.id).glob("slurm/*/slurm*.log")):
            print(f"{log.name}:", *log.read_text().splitlines()[-40:], sep="\n")

    def rests_in_a(self) -> bool:
        """Its job is pending, and nothing of it is left on the nodes."""
        if queue(self.lab, "a") != ["PENDING"]:
            return False
        return set(self.on("a", "sinfo", "-h", "-N", "-o", "%T").stdout.split()) == {"idle"}


def state(job: Path) -> dict:
    try:
        return json.loads((job / "state.json").read_text())
    except FileNotFoundError:
        return {}


def until_running(queues: Queues, job: Path) -> None:
    try:
        eventually(lambda: len((job / "out").read_text().splitlines()) == 4, "all ranks", 90)
    except pytest.fail.Exception:
        queues.show(job)
        raise


def until_ended(queues: Queues, job: Path, limit: float = 120) -> dict:
    try:
        eventually(lambda: state(job).get("state") == "ended", f"the end of {job}", limit)
    except pytest.fail.Exception:
        queues.show(job)
        raise
    return state(job)


def until_met(queues: Queues, job: Path) -> None:
    """The job ends with status 0. Every look starts the parts that wait: Slurm sets the reason
    `BeginTime` some seconds after a part goes back, and two parts that start two minutes later
    can miss each other."""

    def met() -> bool:
        for site in "ab":
            queues.start_now(site)
        return state(job).get("state") == "ended"

    try:
        eventually(met, f"the end of {job}", 180)
        assert state(job)["status"] == 0, (job / "err").read_text()
    except BaseException:
        queues.show(job)
        raise


def opened(standing, folder: Path) -> Iterator[Queues]:
    """The queues, for one test. Afterwards nothing is in them."""
    made = Queues(standing("queues"), folder)
    yield made
    for site in "ab":
        made.resume(site)
        made.on(site, "scancel", "--user=root")
    # A controller that was cut off may take minutes to hear that a job has ended.
    for site in "ab":
        eventually(lambda s=site: not queue(made.lab, s), f"the end of the jobs of {site}", 240)


def steady(queues: Queues, *options: object) -> Path:
    """Submits sums over all living ranks, of two libraries, and returns once they go on."""
    a, b = (mpis.ALL[one].build(STEADY, BUILT) for one in ("openmpi4", "mpich4"))
    words = ["--on", "a", "-n", 2, a, queues.folder, ":", "--on", "b", "-n", 2, b, queues.folder]
    job = queues.submit("--survive", *options, *words)
    try:
        eventually(lambda: (job / "out").read_text() == "up\n", "all ranks", 90)
    except pytest.fail.Exception:
        queues.show(job)
        raise
    return job


def until_left(queues: Queues, job: Path, cluster: str) -> str:
    """The one line that says so."""
    words = f'isthmus: cluster "{cluster}" has failed: '

    def said() -> list[str]:
        assert state(job).get("state") != "ended", (job / "err").read_text()
        return [line for line in (job / "err").read_text().splitlines() if words in line]

    try:
        eventually(
            lambda: said() and cluster in state(job).get("left", {}), "a part that left", 150
        )
    except BaseException:
        queues.show(job)
        raise
    (line,) = said()
    return line.removeprefix(words)


def ends_with(queues: Queues, job: Path, ranks: str) -> None:
    (queues.folder / "bell").touch()
    done = queues.isthmus("attach", job.name)
    assert (done.returncode, done.stdout) == (0, f"up\n{ranks} ranks\n"), done.stderr
    assert done.stderr == (job / "err").read_text()
    assert until_ended(queues, job)["status"] == 0
