"""Submitted jobs that lose a part or their launcher, and parts that are spare. The commands of PBS
are faked (pbs/fake_pbs.py)."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import mpis
import pytest
from marks import processes
from pbs_test import Pbs, ended, pbs  # noqa: F401
from waiting import eventually

STEADY = Path(__file__).parent / "survive" / "steady.c"
GROWING = Path(__file__).parent / "growing"


def spare(pbs: Pbs, cluster: str) -> None:  # noqa: F811
    (pbs.state / f"queue.{cluster}").touch()
    with pbs.grid.open("a") as grid:
        print(f'[cluster.{cluster}]\nscheduler = "pbs"\nbatch = ["-q {cluster}"]', file=grid)
        print("spare = true\nslots = 1", file=grid)


def steady(pbs: Pbs, programs: Path, *options: object) -> Path:  # noqa: F811
    """Sums over all living ranks, which go on. Their files are in the test's folder."""
    where = f'wdir = "{pbs.folder}"'
    pbs.grid.write_text(pbs.grid.read_text().replace("scheduler", f"{where}\nscheduler"))
    east, west = (mpis.ALL[library].build(STEADY, programs) for library in ("mpich4", "openmpi4"))
    words = mpis.on(east=(2, east, pbs.folder), west=(2, west, pbs.folder))
    job = pbs.submit("--survive", *options, *words)
    eventually(lambda: (job / "out").read_text() == "up\n", f"ranks; {(job / 'err').read_text()}")
    return job


def test_a_part_is_lost(pbs: Pbs, programs):  # noqa: F811
    """Not by its queue: what joins it is killed."""
    job = steady(pbs, programs)
    (joiner,) = (
        pid for pid, line in processes(pbs.mark).items() if "join.py" in line and "west" in line
    )
    os.kill(joiner, signal.SIGKILL)
    said = job / "err"
    eventually(lambda: 'cluster "west" has failed: ' in said.read_text(), "the loss")
    (pbs.folder / "bell").touch()
    assert ended(job)["status"] == 0, said.read_text()
    assert (job / "out").read_text() == "up\n2 of 4 ranks\n"
    assert said.read_text().count("; 1 cluster goes on\n") == 1
    assert "left " in pbs.isthmus("jobs").stdout
    eventually(pbs.all_over, "the end of both jobs")


def test_too_few_parts_are_left(pbs: Pbs, programs):  # noqa: F811
    job = steady(pbs, programs, "--min-clusters", 2)
    (gone,) = pbs.jobs("west")
    assert pbs.command("qdel", gone).returncode == 0
    over = ended(job)
    assert over["status"] != 0
    assert "cluster west" in str(over["sentence"])
    eventually(pbs.all_over, "the end of both jobs")


def test_nothing_is_spawned_where_a_part_has_left(pbs: Pbs, programs):  # noqa: F811
    program = mpis.ALL["openmpi4"].build(GROWING / "regrow.c", programs)
    job = pbs.submit("--survive", "-n", 4, program, "west:west")
    assert ended(job)["status"] != 0
    told = (job / "err").read_text()
    assert "west:west: nothing can be spawned: " in told
    assert "cluster west: its batch job has ended" in told
    eventually(pbs.all_over, "the end of both jobs")


def test_the_launcher_is_killed(pbs: Pbs, programs):  # noqa: F811
    """The parts go on without it, and files beside the ranks have their output."""
    job = steady(pbs, programs)
    os.kill(json.loads((job / "process.json").read_text())["pid"], signal.SIGKILL)
    eventually(lambda: len([*pbs.folder.rglob("isthmus-*.err")]) == 2, "that both parts go on")
    (pbs.folder / "bell").touch()
    eventually(pbs.all_over, "the end of both jobs")
    texts = {path.suffix: path.read_text() for path in pbs.folder.rglob("isthmus-*-east.*")}
    assert (texts[".out"], texts[".status"]) == ("4 of 4 ranks\n", "0\n")
    assert "lost: its process is gone" in pbs.isthmus("jobs").stdout
    done = pbs.isthmus("attach", job.name)
    assert (done.returncode, done.stdout) == (1, "up\n")
    assert f"{job.name} is lost: its process is gone" in done.stderr


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_a_spare_part_is_awaited_as_long_as_a_spawn_says(pbs: Pbs, programs, library):  # noqa: F811
    """And when the program ends without it, it leaves its queue."""
    spare(pbs, "south")
    pbs.block("south")
    program = mpis.ALL[library].build(GROWING / "refuses.c", programs)
    late = "cluster south has not come from its queue yet"
    words = [program, "south@0", late, "south@1", f"after 1 s, {late}", "south@soon", "'timeout'"]
    job = pbs.submit("-n", 4, *words)
    assert ended(job)["status"] == 0, (job / "err").read_text()
    told = "isthmus: the program waits for cluster south to come from its queue\n"
    assert (job / "err").read_text().count(told) == 1
    (waiting,) = pbs.jobs("south")
    eventually(lambda: pbs.word(waiting) == "F", "a spare part that nobody needs")
    eventually(pbs.all_over, "the end of all jobs")


def test_a_spare_part_is_deleted_before_it_is_needed(pbs: Pbs, programs):  # noqa: F811
    """The program hears of it, and goes on."""
    spare(pbs, "south")
    blocked = pbs.block("east")
    pbs.block("south")
    program = mpis.ALL["openmpi4"].build(GROWING / "refuses.c", programs)
    job = pbs.submit("-n", 4, program, "south", "PBS says that its job 935.pbs1 is F")
    assert pbs.command("qdel", "935.pbs1").returncode == 0
    blocked.unlink()
    assert ended(job)["status"] == 0, (job / "err").read_text()


def test_processes_are_spawned_in_a_spare_part(pbs: Pbs, programs):  # noqa: F811
    """Twice in the same batch job. Those in a cluster of the run start beside its batch job."""
    spare(pbs, "south")
    program = mpis.ALL["mpich4"].build(GROWING / "refuses.c", programs)
    job = pbs.submit("-n", 4, program, "south", "", "south", "", "east", "")
    assert ended(job)["status"] == 0, (job / "err").read_text()
    told = (job / "err").read_text()
    assert 'cluster "south" has come: 1 process runs there' in told
    assert "warning" not in told
    eventually(pbs.all_over, "the end of all jobs")
