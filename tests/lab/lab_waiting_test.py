"""Tests that take minutes by nature, and print figures: `make lab-waiting`."""

import re
import time

import pytest
import slurms
from lab_submit_test import mixed, queues  # noqa: F401
from slurms import WORLD, queue
from submitting import ends_with, state, steady, until_ended, until_left, until_running
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


@pytest.mark.parametrize("site", ["a", "b"])
def test_how_long_the_end_of_one_part_takes(queues, hello, site):  # noqa: F811
    """Measures from `scancel` of either part to the end of both, also by Slurm's own clocks."""
    job = queues.submit(*mixed(hello, 100))
    until_running(queues, job)
    began = time.monotonic()
    queues.on(site, "scancel", "--user=root")
    asked = time.monotonic() - began
    ended = until_ended(queues, job)
    told = time.monotonic() - began
    eventually(lambda: not queue(queues.lab, "a") and not queue(queues.lab, "b"), "empty queues")
    print(f"\nscancel of {site} returns after {asked:.1f} s, the job has ended after {told:.1f} s")
    for at in "ab":
        shown = queues.on(at, "scontrol", "show", "job").stdout
        times = re.findall(r"JobState=(\S+)|EndTime=(\S+)", shown)
        print(f"{at}: {[state or time for state, time in times][-2:]}")
    assert re.search(f'cluster "?{site}', ended["sentence"]), ended


def test_the_time_of_one_part_is_up_and_the_other_goes_on(queues):  # noqa: F811
    """Slurm gives a minute at least, and looks each half."""
    job = steady(queues)
    queues.on("b", "sh", "-c", "scontrol update jobid=$(squeue -ho %A) timelimit=1")
    said = r"Slurm says that its job \d+ is TIMEOUT; 1 cluster goes on"
    assert re.fullmatch(said, until_left(queues, job, "b"))
    ends_with(queues, job, "2 of 4")
