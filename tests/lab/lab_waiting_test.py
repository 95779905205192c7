"""Tests that take minutes by nature, and print figures: `make lab-waiting`."""

import re
import time

import slurms
from lab_submit_test import mixed, queues  # noqa: F401
from slurms import WORLD, queue
from submitting import ends_with, state, steady, until_ended, until_left
from waiting import eventually

pytestmark = slurms.INSTALLED

BLOCKED = 90.0  # seconds


def test_one_queue_is_blocked_for_90_seconds(queues, hello):  # noqa: F811
    """No part gives up meanwhile, and then there is one world."""
    queues.drain("b")
    job = queues.submit(*mixed(hello))
    said = job / "err"
    eventually(lambda: "cluster a has come" in said.read_text(), "the part that is not blocked", 90)
    time.sleep(BLOCKED)
    assert state(job)["state"] == "waiting"
    assert "PENDING" in queue(queues.lab, "b")
    queues.resume("b")
    began = time.monotonic()
    assert until_ended(queues, job)["status"] == 0, said.read_text()
    print(f"\none world {time.monotonic() - began:.1f} s after its queue is no longer blocked")
    assert sorted((job / "out").read_text().splitlines()) == WORLD


def test_the_time_of_one_part_is_up_and_the_other_goes_on(queues):  # noqa: F811
    """Slurm gives a minute at least, and looks each half."""
    job = steady(queues)
    queues.on("b", "sh", "-c", "scontrol update jobid=$(squeue -ho %A) timelimit=1")
    said = r"Slurm says that its job \d+ is TIMEOUT; 1 cluster goes on"
    assert re.fullmatch(said, until_left(queues, job, "b"))
    ends_with(queues, job, "2 of 4")
