"""Jobs whose parts come from the queues of two real Slurms."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import slurms
from slurms import M4, O4, WORLD, queue
from waiting import eventually

pytestmark = slurms.INSTALLED


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


@pytest.fixture
def queues(standing, tmp_path):
    made = Queues(standing("queues"), tmp_path)
    yield made
    for site in "ab":
        made.resume(site)
        made.on(site, "scancel", "--user=root")
    for site in "ab":
        eventually(lambda s=site: not queue(made.lab, s), f"the end of the jobs of {site}")


def mixed(hello, *arguments):
    a = ["--on", "a", "-n", 2, hello(O4), *arguments]
    return [*a, ":", "--on", "b", "-n", 2, hello(M4), *arguments]


def test_two_jobs_meet(queues, hello):
    job = queues.submit("--time", "10min", *mixed(hello))
    done = queues.isthmus("attach", job.name)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == WORLD
    assert state(job) == {"state": "ended", "status": 0, "sentence": ""}
    listed = queues.isthmus("jobs").stdout
    assert re.search(rf"^{job.name} +ended +\d+ s +a +Slurm job \d+", listed, re.MULTILINE)
    assert re.search(r"^ +b +Slurm job \d+", listed, re.MULTILINE)
    (row,) = json.loads(queues.isthmus("jobs", "--json").stdout)
    assert (row["job"], row["state"], row["status"]) == (job.name, "ended", 0)
    assert queues.isthmus("jobs", "--forget").stdout == f"forgot {job.name}\n"
    assert "no job was submitted from here" in queues.isthmus("jobs").stdout


def test_one_waits_and_is_given_back(queues, hello):
    """One queue is blocked: the other part waits, goes back into its queue, and comes again."""
    queues.drain("b")
    job = queues.submit("--hold", "10s", *mixed(hello))
    said = job / "err"
    eventually(lambda: "goes back into its queue: after 10 s" in said.read_text(), "a requeue", 90)
    eventually(queues.rests_in_a, "a part that has gone back", 90)
    queues.resume("b")
    until_met(queues, job)
    assert sorted((job / "out").read_text().splitlines()) == WORLD


def test_one_that_waits_briefly_is_given_back_again_and_again(queues, hello):
    """It starts again at once, each time, and so does the other, until both are there."""
    queues.drain("b")
    job = queues.submit("--hold", "3s", *mixed(hello))
    said = job / "err"

    def given_back(times: int) -> bool:
        queues.start_now("a")
        assert state(job).get("state") != "ended", state(job)
        return said.read_text().count("goes back into its queue: after 3 s") >= times

    eventually(lambda: given_back(3), "a part that has gone back three times", 180)
    queues.resume("b")
    until_met(queues, job)
    assert sorted((job / "out").read_text().splitlines()) == WORLD


def test_one_never_comes(queues, hello):
    queues.drain("b")
    job = queues.submit("--wait", "5s", *mixed(hello))
    ended = until_ended(queues, job)
    assert ended["status"] == 1
    assert ended["sentence"] == "after 5 s, cluster b not there yet, and --wait allows no more"
    eventually(lambda: not queue(queues.lab, "a") and not queue(queues.lab, "b"), "empty queues")


@pytest.mark.parametrize("site", ["a", "b"])
def test_one_part_is_cancelled(queues, hello, site):
    job = queues.submit(*mixed(hello, 100))
    until_running(queues, job)
    queues.on(site, "scancel", "--user=root")
    began = time.monotonic()
    ended = until_ended(queues, job)
    print(f"ended {time.monotonic() - began:.1f} s after scancel returned")
    assert ended["status"] != 0
    assert f"cluster {site}" in ended["sentence"]
    assert "CANCELLED" in ended["sentence"] or "cancelled" in ended["sentence"]
    eventually(lambda: not queue(queues.lab, "a") and not queue(queues.lab, "b"), "empty queues")


def test_a_queued_part_is_cancelled(queues, hello):
    queues.drain("b")
    job = queues.submit(*mixed(hello))
    queues.on("b", "scancel", "--user=root")
    ended = until_ended(queues, job)
    assert ended["sentence"].startswith("cluster b: Slurm says that its job ")
    assert " is CANCELLED" in ended["sentence"]


def test_the_whole_job_is_cancelled(queues, hello):
    job = queues.submit(*mixed(hello, 100))
    until_running(queues, job)
    done = queues.isthmus("cancel", job.name)
    assert done.stdout == f"{job.name}: ended with status 143\n", done.stderr
    eventually(lambda: not queue(queues.lab, "a") and not queue(queues.lab, "b"), "empty queues")


def test_a_job_is_cancelled_while_it_waits(queues, hello):
    queues.drain("b")
    job = queues.submit(*mixed(hello))
    assert queues.isthmus("cancel", job.name).stdout == f"{job.name}: cancelled\n"
    eventually(lambda: not queue(queues.lab, "a") and not queue(queues.lab, "b"), "empty queues")


def test_what_slurm_refuses(queues, hello):
    done = queues.isthmus("submit", "--on", "a", "-n", 2, hello(O4), ":", "--on", "b", "-n", 2,
                          "--wdir", "/tmp", hello(M4))  # fmt: skip
    assert done.returncode == 0
    grid = queues.folder / "grid.toml"
    text = queues.on("a", "sh", "-c", "cat $ISTHMUS_GRID").stdout
    grid.write_text(text.replace("[cluster.b]", '[cluster.b]\nbatch = ["--partition=nix"]'))
    done = queues.isthmus("submit", "-g", grid, *mixed(hello))
    assert done.returncode == 1
    assert "cluster b: Slurm did not take the job" in done.stderr
    assert "invalid partition specified: nix" in done.stderr


def test_the_time_is_up(queues, hello):
    """Slurm gives a minute at least, and looks each half."""
    job = queues.submit("--time", "1min", *mixed(hello, 1000))
    until_running(queues, job)
    ended = until_ended(queues, job, 200)
    assert ended["status"] != 0
    assert "time limit" in ended["sentence"] or "TIMEOUT" in ended["sentence"]


def test_gateways_on_compute_nodes(queues, hello):
    """Without addresses they stand beside the agents, and no ssh is needed once all have come."""
    tables = queues.on("a", "sh", "-c", "cat $ISTHMUS_GRID").stdout.split("\n\n")
    grid = queues.folder / "grid.toml"
    grid.write_text("\n\n".join(t for t in tables if not t.lstrip().startswith("[[gateway]]")))
    job = queues.submit("-g", grid, "--tag-output", *mixed(hello))
    assert until_ended(queues, job)["status"] == 0, (job / "err").read_text()
    assert sorted((job / "out").read_text().splitlines()) == [
        f"[{rank}] {line}" for rank, line in enumerate(WORLD)
    ]


def test_ranks_are_where_a_map_has_them(queues, hello):
    """Nodes b1 and b2 have the odd ranks. The ranks' output shows the map."""
    where = queues.folder / "app.map"
    where.write_text("0,2 a\n1,3 b\n")
    job = queues.submit("--map", where, hello(O4))
    assert until_ended(queues, job)["status"] == 0, (job / "err").read_text()
    said = sorted((job / "out").read_text().splitlines())
    assert said == ["0/4 a1 6", "1/4 b1 6", "2/4 a2 6", "3/4 b2 6"]


def test_a_profile_of_a_submitted_job(queues, hello):
    """It is written where the job was submitted, by a name relative to the folder there."""
    (queues.folder / "work").mkdir()
    words = [sys.executable, "-m", "isthmus", "submit", "--profile", "app.json", *mixed(hello)]
    done = queues.on("a", "sh", "-c", 'cd "$0" && exec "$@"', queues.folder / "work", *words)
    assert done.returncode == 0, done.stderr
    (job,) = (queues.folder / "jobs").glob("*")
    assert until_ended(queues, job)["status"] == 0, (job / "err").read_text()
    profile = json.loads((queues.folder / "work" / "app.json").read_text())
    assert (profile["size"], profile["missing"], profile["status"]) == (4, [], 0)
    assert [rank["host"] for rank in profile["ranks"]] == ["a1", "a2", "b1", "b2"]
    (sums,) = (each for each in profile["collectives"] if each["function"] == "MPI_Allreduce")
    assert (sums["entered"], sums["bytes"]) == (4, 16)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile", "no/app.json"], "does not exist"),
        (["--map", "no.map"], "no.map"),
    ],
)
def test_what_a_submission_names_is_looked_at_first(queues, hello, words, said):
    done = queues.isthmus("submit", *words, hello(O4))
    assert done.returncode == 2
    assert said in done.stderr
    assert not list((queues.folder / "jobs").glob("*"))


def test_a_profile_that_cannot_be_written_in_the_end_is_told(queues, hello):
    gone = queues.folder / "gone"
    gone.mkdir()
    queues.drain("b")
    job = queues.submit("--profile", gone / "app.json", *mixed(hello))
    gone.rmdir()
    queues.resume("b")
    ended = until_ended(queues, job, 120)
    assert ended["status"] == 1
    assert f"cannot write the profile to {gone}/app.json: No such file" in ended["sentence"]
    assert sorted((job / "out").read_text().splitlines()) == WORLD
