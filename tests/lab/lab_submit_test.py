"""Jobs whose parts come from the queues of two real Slurms."""

import json
import re
import sys
import time

import pytest
import slurms
import submitting
from slurms import M4, O4, WORLD, queue
from submitting import state, until_ended, until_met, until_running
from waiting import eventually

pytestmark = slurms.INSTALLED


@pytest.fixture
def queues(standing, tmp_path):
    yield from submitting.opened(standing, tmp_path)


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
    assert re.search(f'cluster "?{site}', ended["sentence"]), ended
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
