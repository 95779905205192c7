"""Batch jobs end, and the others go on: `isthmus submit --survive` on two real Slurms."""

import json
import re
from pathlib import Path

import mpis
import pytest
import slurms
import submitting
from slurms import queue
from submitting import Queues, ends_with, steady, until_left
from waiting import eventually

GROWING = mpis.ROOT / "tests" / "grid" / "growing"

pytestmark = slurms.INSTALLED


@pytest.fixture
def queues(standing, tmp_path):
    yield from submitting.opened(standing, tmp_path)


@pytest.mark.parametrize(
    ("site", "command", "said"),
    [
        # It has world rank 0. The launcher stands elsewhere.
        ("a", "scancel {}", r"Slurm says that its job \d+ is CANCELLED"),
        (
            "b",
            "scontrol update nodename=b2 state=down reason=test",
            r"Slurm has put its job \d+ back into its queue \(PENDING\)",
        ),
    ],
    ids=["scancel", "node fails"],
)
def test_the_others_go_on_without_a_part(queues, site, command, said):
    job = steady(queues)
    (number,) = queues.on(site, "squeue", "-ho", "%A").stdout.split()
    queues.on(site, "sh", "-c", command.format(number))
    assert re.fullmatch(f"{said}; 1 cluster goes on", until_left(queues, job, site))
    assert re.search(rf"Slurm job {number}, left .* ago: {said}", queues.isthmus("jobs").stdout)
    (row,) = json.loads(queues.isthmus("jobs", "--json").stdout)
    left = {part["cluster"]: part["left"] for part in row["parts"]}
    assert (row["state"], left["ab".replace(site, "")]) == ("running", None)
    assert re.fullmatch(said, left[site]["why"])
    eventually(lambda: not queue(queues.lab, site), "the end of what Slurm would start again")
    ends_with(queues, job, "2 of 4")


def with_spare(queues: Queues) -> Path:
    """A grid whose spare cluster c is another part of the queue of b."""
    grid = queues.folder / "grid.toml"
    text = queues.on("a", "sh", "-c", "cat $ISTHMUS_GRID").stdout
    spare = '[cluster.c]\nhost = "b0"\nscheduler = "slurm"\nlaunch = "srun"\nslots = 1\n'
    spare += '[[link]]\nbetween = ["a", "c"]\n'
    grid.write_text(f"{text}\n{spare}")
    return grid


def test_a_spare_part_comes_from_its_queue_when_it_is_needed(queues):
    """One node is left at b. So the spare part starts when b has failed and given it back."""
    queues.drain("b")
    program = mpis.ALL["openmpi4"].build(GROWING / "regrow.c", submitting.BUILT)
    turns = [program, "b:c"]
    job = queues.submit(
        *["-g", with_spare(queues), "--survive", "--spare", "c"],
        *["--on", "a", "-n", 2, *turns, ":", "--on", "b", "-n", 1, *turns],
    )
    done = queues.isthmus("attach", job.name)
    assert (done.returncode, done.stdout) == (0, "3 ranks, sum 3\n"), done.stderr
    lines = [
        '"b" has failed: ',
        "c has come (b1",
        '"c" has come: 1 process runs there as cluster "c/1"',
    ]
    places = [done.stderr.find(f"isthmus: cluster {line}") for line in lines]
    assert places == sorted(places), done.stderr
    assert places[0] >= 0, done.stderr


def test_the_host_of_the_launcher_is_cut_off(queues):
    """Longer than the patience. Its connections stay, and the parts go on without it."""
    grid = queues.folder / "grid.toml"
    cluster = '[cluster.{0}]\nhost = "{0}0"\nscheduler = "slurm"\nlaunch = "srun"\nslots = 2\n'
    clusters = "".join(f'{cluster.format(name)}wdir = "{queues.folder}"\n' for name in "ab")
    grid.write_text(f'patience = "10 s"\nmeet = "10.1.255.1"\n{clusters}')
    job = steady(queues, "-g", grid)
    try:
        assert queues.on("a", "ip", "rule", "add", "priority", 1, "blackhole").returncode == 0
        eventually(lambda: len(written(queues, "err")) == 2, "that both parts go on", 90)
        (queues.folder / "bell").touch()
        # Slurm's controller is on that host, too: srun ends when it is back.
        eventually(lambda: "4 of 4 ranks\n" in written(queues, "out"), "the sum of all ranks")
        assert [text.count("isthmus: ") for text in written(queues, "err")] == [1, 1]
    finally:
        queues.on("a", "ip", "rule", "del", "priority", 1)
    assert submitting.until_ended(queues, job)["status"] != 0  # as far as its process knows


def written(queues: Queues, kind: str) -> list[str]:
    """The contents of the files of this kind that parts have written by themselves."""
    return [path.read_text() for path in queues.folder.rglob(f"isthmus-*.{kind}")]
