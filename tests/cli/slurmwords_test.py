"""Lines of a real Slurm 22.05."""

import pytest

from isthmus.run.chatter import Chatter
from isthmus.run.slurmwords import SlurmWords


def heard(*lines: bytes) -> SlurmWords:
    words = SlurmWords(clock=lambda: 0.0)
    for line in lines:
        assert words.hear(line + b"\n"), line
    return words


def test_a_job_that_is_queued():
    now = 0.0
    words = SlurmWords(clock=lambda: now)
    assert words.waits == ""
    words.hear(b"srun: job 5 queued and waiting for resources\n")
    now = 42.0
    assert words.waits == "queued, 42 s (Slurm job 5)"
    now = 720.0
    assert words.waits == "queued, 12 min (Slurm job 5)"
    words.hear(b"srun: job 5 has been allocated resources\n")
    assert words.waits == ""
    assert words.verdict == ""


def test_why_it_is_queued():
    words = heard(
        b"srun: Required node not available (down, drained or reserved)",
        b"srun: job 7 queued and waiting for resources",
    )
    assert "Slurm job 7: Required node not available (down, drained or reserved)" in words.waits


CANCELLED = b"slurmstepd-b1: error: *** STEP 1.0 ON b1 CANCELLED AT 2026-11-23T07:03:55 ***"
BY_NODE = (
    b"slurmstepd-b1: error: *** STEP 3.0 ON b1 CANCELLED AT 2026-11-23T07:04:08 "
    b"DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"
)
BY_TIME = (
    b"slurmstepd-b1: error: *** JOB 9 ON b1 CANCELLED AT 2026-11-23T07:04:08 DUE TO TIME LIMIT ***"
)


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ([CANCELLED], "Slurm ended job 1: somebody cancelled it (scancel)"),
        ([b"srun: error: Node failure on b2", BY_NODE], "Slurm ended job 3: node b2 has failed"),
        ([BY_NODE], "Slurm ended job 3: a node has failed"),
        ([b"srun: Force Terminated JobId=9", BY_TIME], "Slurm ended job 9: "),
        ([BY_TIME, CANCELLED], "its time limit has passed"),
        (
            [b"srun: error: Unable to allocate resources: Invalid partition name specified"],
            "Slurm: Unable to allocate resources: Invalid partition name specified",
        ),
        (
            [b"srun: error: task 0 launch failed: Unspecified error"],
            "Slurm: task 0 could not be launched: Unspecified error",
        ),
    ],
)
def test_why_it_ended(lines, verdict):
    assert verdict in heard(*lines).verdict


def test_what_ranks_say_is_theirs():
    words = SlurmWords()
    assert not words.hear(b"srun: hello from a rank\n")
    chatter = Chatter()
    said = b"one\nsrun: error: b1: task 0: Terminated\ntwo\n"
    assert chatter.sift(2, said) == b"one\ntwo\n"
    assert chatter.kept == [b"srun: error: b1: task 0: Terminated\n"]
