"""The report of where ranks are: from their answers, and on which occasions."""

import signal

import pytest
from job_signals_test import started
from scenarios import spawned
from waiting import with_enough_time

from isthmus.run.whereabouts import ranks_text, view


def here(rank, *waits, awaited=(), native=0):
    said = {"rank": rank, "host": "node", "pid": 70 + rank, "native": native}
    return {**said, "waits": list(waits), "awaited": list(awaited)}


WORLD = {"comm": "MPI_COMM_WORLD", "size": 4}
RECV = {"call": "MPI_Recv", "from": 7, "tag": 5, "seconds": 12.3, **WORLD}
ANY = {"call": "MPI_Recv", "from": -1, "tag": -1, "seconds": 3, "comm": "", "size": 2}
SEND = {"call": "MPI_Ssend", "to": 1, "tag": 0, "seconds": 1, **WORLD}
BARRIER = {"call": "MPI_Barrier", "seconds": 9, **WORLD}
WAITALL = {"call": "MPI_Waitall", "requests": 2, "seconds": 4}
OF_BARRIER = {"from": 3, "tag": 17, "collective": True}
OF_PROGRAM = {"from": 2, "tag": 5, "collective": False}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (here(0, RECV), "MPI_Recv from rank 7 with tag 5, on MPI_COMM_WORLD of 4 ranks, for 12 s"),
        (
            here(0, ANY),
            "MPI_Recv from any rank with any tag, on a communicator of 2 ranks, for 3 s",
        ),
        (here(0, SEND), "MPI_Ssend to rank 1 with tag 0, on MPI_COMM_WORLD of 4 ranks, for 1 s"),
        (
            here(0, BARRIER, awaited=[OF_BARRIER, OF_PROGRAM]),
            "MPI_Barrier, on MPI_COMM_WORLD of 4 ranks, awaiting messages from rank 3, for 9 s",
        ),
        (
            here(0, WAITALL, awaited=[OF_BARRIER, OF_PROGRAM]),
            "MPI_Waitall of 2 requests, awaiting messages from rank 3, from rank 2 with tag 5, "
            "for 4 s",
        ),
        (here(0), "in no call that waits for another cluster"),
        (here(0, native=1), "inside the native library"),
    ],
)
def test_sentences(answer, said):
    assert view([0], {0: answer}) == [f"rank 0 (node, process 70): {said}"]


def test_ranks_are_named_in_their_order():
    assert ranks_text([0, 4, 7, 5, 6]) == "ranks 0, 4-7"
    assert ranks_text([3]) == "rank 3"


def test_who_does_not_answer():
    (line,) = view([4], {})
    assert line.startswith("rank 4: does not answer")


def test_many_ranks_share_lines():
    answers = {rank: here(rank, {**BARRIER, "seconds": rank}) for rank in range(64)}
    answers[9] = here(9, RECV)
    assert view(range(64), answers) == [
        "ranks 0-8, 10-63: MPI_Barrier, on MPI_COMM_WORLD of 4 ranks",
        "rank 9: MPI_Recv from rank 7 with tag 5, on MPI_COMM_WORLD of 4 ranks",
    ]


UP = [{"say": {"op": "joined", "ranks": 1}}, {"say": {"op": "output", "fd": 1}, "text": "up\n"}]


def waiting(pair):
    scenarios = [spawned(*UP), spawned(*UP)]
    for rank, scenario in enumerate(scenarios):
        answer = {"say": {"op": "where", "here": here(rank, RECV)}}
        scenario["on"]["where"] = [answer] if rank == 0 else [answer, answer]
    return pair(*scenarios)


def test_a_time_limit_tells_where_the_ranks_are(pair):
    grid = waiting(pair)
    seconds = []

    def run(limit):
        seconds.append(f"{limit:g}")
        return grid.run("-n", "2", "--timeout", seconds[-1], "x")

    done = with_enough_time(run, lambda done: done.stderr.count("MPI_Recv") == 2)
    assert done.returncode == 124
    said = "MPI_Recv from rank 7 with tag 5, on MPI_COMM_WORLD of 4 ranks, for 12 s\n"
    assert done.stderr == (
        "isthmus: the ranks are in:\n"
        f"  rank 0 (node, process 70): {said}"
        f"  rank 1 (node, process 71): {said}"
        f"isthmus: the time limit of {seconds[-1]} s has passed\n"
    )


def test_sigquit_tells_it_and_the_run_goes_on(pair):
    with started(waiting(pair)) as running:
        for _ in range(2):
            running.send_signal(signal.SIGQUIT)
            assert running.stderr.readline() == "isthmus: the ranks are in:\n"
            assert running.stderr.readline().startswith("  rank 0 (node, process 70): MPI_Recv")
            assert running.stderr.readline().startswith("  rank 1 (node, process 71): MPI_Recv")
        assert running.poll() is None
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=240)
