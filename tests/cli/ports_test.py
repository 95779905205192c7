"""Ports and published names, as the launcher has them."""

import pytest

from isthmus.run.ports import Caller, Ports


class Answers:
    """The answers to callers, by rank."""

    def __init__(self):
        self.given = {}

    def caller(self, rank, context=0):
        return Caller(rank, lambda answer: self.given.update({rank: answer}), context)


@pytest.fixture
def ports():
    return Ports("job-1")


@pytest.fixture
def answers():
    return Answers()


def test_both_sides_learn_of_each_other_whoever_comes_first(ports, answers):
    port = ports.open(0)["port"]
    ports.connect(port, answers.caller(7))
    assert answers.given == {}
    ports.accept(port, answers.caller(2, context=96))
    assert answers.given == {2: {"peer": 7, "context": 96}, 7: {"peer": 2, "context": 96}}
    ports.accept(port, answers.caller(3, context=98))
    ports.connect(port, answers.caller(8))
    assert answers.given[8] == {"peer": 3, "context": 98}


def test_a_root_that_gives_up_meets_nobody(ports, answers):
    port = ports.open(0)["port"]
    ports.accept(port, answers.caller(2, context=96))
    ports.accept(port, answers.caller(3, context=98))
    assert ports.withdraw(port, 2, 96) == {}
    assert answers.given[2]["error"] == "other"
    ports.connect(port, answers.caller(7))
    assert answers.given[7] == {"peer": 3, "context": 98}
    assert ports.withdraw(port, 3, 98) == ports.withdraw("no port", 3, 98) == {}
    assert answers.given[3] == {"peer": 7, "context": 98}


def test_who_gives_up_the_one_meeting_of_a_port_turns_away_the_others(ports, answers):
    early, late = (ports.open(0, once=True)["port"] for _ in range(2))
    ports.accept(early, answers.caller(0, context=96))
    ports.accept(late, answers.caller(0, context=98))
    ports.withdraw(late, 0, 98)
    ports.connect(late, answers.caller(8))
    assert answers.given[8]["error"] == "port"
    ports.connect(early, answers.caller(7))
    assert answers.given[7] == {"peer": 0, "context": 96}
    waiting = ports.open(0, once=True)["port"]
    ports.connect(waiting, answers.caller(9))
    ports.withdraw(waiting, 0, 99)
    assert answers.given[9]["error"] == "port"


def test_ports_have_names_of_their_own(ports, answers):
    first, second = ports.open(0)["port"], ports.open(0)["port"]
    assert first != second
    ports.connect(first, answers.caller(1))
    ports.accept(second, answers.caller(2))
    assert answers.given == {}


def test_a_closed_port_turns_away_who_waits_and_who_comes(ports, answers):
    port = ports.open(0)["port"]
    ports.accept(port, answers.caller(1))
    assert ports.close(port) == {}
    ports.connect(port, answers.caller(2))
    assert [answers.given[rank]["error"] for rank in (1, 2)] == ["port", "port"]
    assert ports.close(port)["error"] == "port"


def test_ranks_that_have_failed_wait_no_longer(ports, answers):
    port, other = ports.open(0)["port"], ports.open(5)["port"]
    ports.accept(port, answers.caller(4))
    ports.connect(other, answers.caller(2))
    ports.connect(other, answers.caller(6))
    ports.lose(range(4, 6))
    assert 4 not in answers.given
    assert [answers.given[rank]["error"] for rank in (2, 6)] == ["port", "port"]
    ports.connect(port, answers.caller(3))
    ports.accept(port, answers.caller(1, context=8))
    assert answers.given[3] == {"peer": 1, "context": 8}


def test_who_waits_for_new_processes_hears_that_they_have_failed(ports, answers):
    port = ports.open(0, once=True)["port"]
    ports.expect(port, [range(8, 10), range(10, 12)])
    ports.accept(port, answers.caller(0, context=96))
    ports.lose(range(4, 6))
    assert answers.given == {}
    ports.lose(range(10, 12))
    assert answers.given[0]["error"] == "spawn"
    assert ports.close(port)["error"] == "port"


def test_new_processes_fail_before_anybody_waits_for_them(ports, answers):
    port = ports.open(0, once=True)["port"]
    ports.expect(port, [range(8, 10), range(10, 12)])
    ports.lose(range(10, 12))
    ports.connect(port, answers.caller(8))
    assert answers.given[8]["error"] == "spawn"
    ports.accept(port, answers.caller(0, context=96))
    assert answers.given[0]["error"] == "spawn"
    assert ports.close(port)["error"] == "port"


def test_a_port_of_another_run_is_called_so(ports, answers):
    other = Ports("job-2").open(0)["port"]
    ports.connect(other, answers.caller(1))
    assert "another run" in answers.given[1]["message"]


def test_a_port_for_one_meeting_closes_after_it(ports, answers):
    port = ports.open(0, once=True)["port"]
    ports.accept(port, answers.caller(1))
    ports.connect(port, answers.caller(2))
    assert answers.given[2]["peer"] == 1
    assert ports.close(port)["error"] == "port"


def test_names_are_published_once_and_taken_back_with_their_port(ports):
    assert ports.lookup("ocean")["error"] == "name"
    assert ports.publish("ocean", "p") == {}
    assert ports.publish("ocean", "q")["error"] == "service"
    assert ports.lookup("ocean") == {"port": "p"}
    assert ports.unpublish("ocean", "q")["error"] == "service"
    assert ports.unpublish("ocean", "p") == {}
    assert ports.lookup("ocean")["error"] == "name"


def test_one_that_waits_no_more_is_not_met(ports, answers):
    port = ports.open(5)["port"]
    caller = answers.caller(1)
    ports.connect(port, caller)
    ports.forget(port, caller)
    ports.accept(port, answers.caller(2))
    assert answers.given == {}
    assert ports.opener(port) == 5


def test_messages_do_not_tell_what_opens_a_port(ports, answers):
    port = ports.open(0)["port"]
    secret = port.rpartition("/")[2]
    wrong = port.replace(secret, "0" * len(secret))
    ports.connect(wrong, answers.caller(1))
    ports.close(port)
    ports.connect(port, answers.caller(2))
    for rank in (1, 2):
        assert "isthmus:job-1/1 is not open" in answers.given[rank]["message"]
        assert secret not in answers.given[rank]["message"]
