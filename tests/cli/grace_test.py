"""The time that ranks have to end by themselves."""

import pytest

from isthmus.base.grace import Grace
from isthmus.base.outcome import Outcome, Weight

GONE = Outcome(1, 'rank 2 (cluster "west") ended without MPI_Finalize or was killed', Weight.FAULT)
KILLED = Outcome(137, 'rank 2 (cluster "west") was killed by signal 9 (SIGKILL)', Weight.FAULT)
LOST = Outcome(1, "cluster west: the connection was lost", Weight.FAULT)
EXIT = Outcome(143, "cluster west: the program was killed by signal 15 (SIGTERM)", Weight.EXIT)
ABORT = Outcome(3, "rank 2 called MPI_Abort with code 3", Weight.ABORT)
ASKED = Outcome(130, "SIGINT: ended everything", Weight.USER)


def seconds(outcome, cluster, *, joined=True, orderly=False, aborting=False, fixed=None):
    return Grace(fixed).of(outcome, cluster, joined=joined, orderly=orderly, aborting=aborting)


def test_who_asks_for_the_end_does_not_wait():
    assert seconds(ASKED, "east") == seconds(ASKED, "east", fixed=60) == 0


@pytest.mark.parametrize("outcome", [LOST, EXIT, GONE, KILLED, ABORT])
def test_others_than_the_lost_cluster_are_ended_soon(outcome):
    assert seconds(outcome, "east") < 1


def test_a_launcher_has_time_to_say_how_its_rank_died():
    assert seconds(GONE, "west") == 10
    assert seconds(KILLED, "west") < 10


def test_who_ends_by_himself_may():
    """Ranks wait for a second when they have heard, and mpirun takes two more."""
    assert seconds(EXIT, "east", orderly=True) == seconds(EXIT, "west", orderly=True) == 3
    assert seconds(ABORT, "west", aborting=True) == 3


def test_where_hardly_a_rank_can_have_heard():
    assert seconds(GONE, "west", joined=False) == 1
    assert seconds(GONE, "west", joined=False, fixed=60) == 1


def test_a_launcher_may_say_how_its_rank_ended_in_mpi_init():
    early = Outcome(1, 'rank 2 (cluster "west") ended in MPI_Init or was killed', Weight.FAULT)
    assert seconds(early, "west", joined=False) == 3
    assert seconds(early, "east", joined=False) == 1


def test_as_the_user_says():
    assert seconds(GONE, "west", fixed=60) == seconds(LOST, "east", fixed=60) == 60


@pytest.mark.parametrize(
    ("outcome", "cluster", "heard", "aborting", "has"),
    [
        (LOST, "east", None, False, None),  # the agent may know that its ranks were told
        (ASKED, "east", 0.1, False, None),
        (KILLED, "east", 0.5, False, 0),  # its ranks wait: the launcher can be told now
        (KILLED, "east", 0.9, False, 2),  # they end: a signal would make the launcher stumble
        (GONE, "west", 0.5, False, 2),
        (ABORT, "west", 0.1, True, 2),
        (ABORT, "east", 0.5, False, 0),
    ],
)
def test_what_the_native_launcher_has(outcome, cluster, heard, aborting, has):
    assert Grace().of_launcher(outcome, cluster, heard, aborting=aborting) == has
