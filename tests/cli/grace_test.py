"""How long ranks have to end by themselves."""

import pytest

from isthmus.grace import Grace
from isthmus.outcome import Outcome, Weight

GONE = Outcome(1, 'rank 2 (cluster "west") ended without MPI_Finalize or was killed', Weight.FAULT)
KILLED = Outcome(137, 'rank 2 (cluster "west") was killed by signal 9 (SIGKILL)', Weight.FAULT)
LOST = Outcome(1, "cluster west: the connection was lost", Weight.FAULT)
EXIT = Outcome(143, "cluster west: the program was killed by signal 15 (SIGTERM)", Weight.EXIT)
ABORT = Outcome(3, "rank 2 called MPI_Abort with code 3", Weight.ABORT)
ASKED = Outcome(130, "SIGINT: ended everything", Weight.USER)


def seconds(outcome, cluster, *, joined=True, orderly=False, fixed=None):
    return Grace(fixed).of(outcome, cluster, joined=joined, orderly=orderly)


def test_who_asks_for_the_end_does_not_wait():
    assert seconds(ASKED, "east") == seconds(ASKED, "east", fixed=60) == 0


@pytest.mark.parametrize("outcome", [LOST, EXIT, GONE, KILLED])
def test_others_than_the_lost_cluster_are_ended_soon(outcome):
    assert seconds(outcome, "east") < 1


def test_a_launcher_has_time_to_say_how_its_rank_died():
    assert seconds(GONE, "west") == 10
    assert seconds(KILLED, "west") < 10


@pytest.mark.parametrize(("outcome", "orderly"), [(ABORT, False), (EXIT, True)])
def test_who_ends_by_himself_may(outcome, orderly):
    """Ranks wait for a second when they have heard, and mpirun takes two more."""
    assert seconds(outcome, "east", orderly=orderly) == seconds(outcome, "west", orderly=orderly)
    assert seconds(outcome, "east", orderly=orderly) == 3


def test_where_hardly_a_rank_can_have_heard():
    assert seconds(GONE, "west", joined=False) == 1
    assert seconds(GONE, "west", joined=False, fixed=60) == 1


def test_as_the_user_says():
    assert seconds(GONE, "west", fixed=60) == seconds(LOST, "east", fixed=60) == 60


@pytest.mark.parametrize(
    ("outcome", "cluster", "heard", "has"),
    [
        (LOST, "east", None, None),  # the agent may know that its ranks were told
        (ASKED, "east", 0.1, None),
        (KILLED, "east", 0.5, 0),  # its ranks wait: the launcher can be told now
        (KILLED, "east", 0.9, 2),  # they end: a signal would make the launcher stumble
        (GONE, "west", 0.5, 2),
        (ABORT, "east", 0.1, 2),
    ],
)
def test_what_the_native_launcher_has(outcome, cluster, heard, has):
    assert Grace().of_launcher(outcome, cluster, heard) == has
