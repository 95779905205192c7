"""Questions of ranks to the launcher, and its answers."""

import pytest

from isthmus.run.ports import Ports
from isthmus.run.questions import Questions


class Run:
    def __init__(self):
        self.answers = []
        self.spawns = []
        self.abroad = []
        self.questions = Questions("job-1", Ports("job-1"), self, self.reply, self.spawn, self.told)

    def connect(self, port, rank, limit, answer):
        self.abroad.append((port.job, rank, limit))
        answer({"peer": 9, "context": 2})

    def look_up(self, service, limit, answer):
        self.waits = limit
        answer({"port": "far"} if service == "there" else {"error": "name", "message": "unknown"})

    def reply(self, agent, rank, number, answer):
        self.answers.append((agent, rank, number, answer))

    def spawn(self, rank, commands, port, done):
        self.spawns.append((rank, commands, port, done))

    def told(self, rank, request):
        self.told_by = rank, request["text"]
        return {}

    def ask(self, agent, rank, number, **request):
        message = {"op": "ask", "rank": rank, "number": number, "request": request}
        self.questions.hear(agent, message)


@pytest.fixture
def run():
    return Run()


def test_an_answer_goes_where_the_question_came_from(run):
    run.ask("east", 3, 0, do="open")
    (agent, rank, number, answer) = run.answers[0]
    assert (agent, rank, number) == ("east", 3, 0)
    assert answer["port"].startswith("isthmus:job-1/")


def test_a_question_that_is_asked_again_is_done_once(run):
    run.ask("east", 3, 0, do="open")
    run.ask("west", 3, 0, do="open")
    assert run.answers[0][3] == run.answers[1][3]
    assert run.answers[1][0] == "west"


def test_a_question_that_waits_is_answered_by_the_last_way(run):
    run.ask("east", 3, 0, do="open")
    port = run.answers[0][3]["port"]
    run.ask("east", 3, 1, do="accept", port=port, context=64)
    run.ask("west", 3, 1, do="accept", port=port, context=64)
    run.ask("south", 5, 0, do="connect", port=port)
    assert ("west", 3, 1, {"peer": 5, "context": 64}) in run.answers
    assert len(run.answers) == 3


def test_nonsense_gets_an_answer_or_none(run):
    run.ask("east", 3, 0, do="dance")
    assert run.answers[0][3]["error"] == "other"
    run.questions.hear("east", {"op": "ask", "rank": "3", "number": 0, "request": {}})
    run.questions.hear("east", {"op": "ask", "rank": 3, "number": 1, "request": []})
    assert len(run.answers) == 1


def test_spawned_processes_connect_where_their_parents_accept(run):
    run.ask("east", 0, 0, do="spawn", commands=[{"argv": ["a"], "n": 1}])
    rank, commands, port, done = run.spawns[0]
    assert (rank, commands) == (0, [{"argv": ["a"], "n": 1}])
    done("")
    assert run.answers[0][3] == {"port": port}


def test_why_processes_cannot_be_spawned_is_told(run):
    run.ask("east", 0, 0, do="spawn", commands=[])
    *_, port, done = run.spawns[0]
    done("there is no such program")
    assert run.answers[0][3] == {"error": "spawn", "message": "there is no such program"}
    run.ask("east", 0, 1, do="accept", port=port)
    assert run.answers[1][3]["error"] == "port"


def test_a_piece_of_a_profile_is_taken_once(run):
    run.ask("east", 3, 0, do="profile", text="{}", last=True)
    assert run.told_by == (3, "{}")
    run.told_by = None
    run.ask("west", 3, 0, do="profile", text="{}", last=True)
    assert run.told_by is None
    assert [answer[3] for answer in run.answers] == [{}, {}]


def test_a_port_of_another_run_is_met_there(run):
    port = "isthmus:job-2/1/" + 32 * "a"
    run.ask("east", 3, 0, do="connect", port=port, limit=5)
    assert run.abroad == [("job-2", 3, 5.0)]
    assert run.answers[0][3] == {"peer": 9, "context": 2}
    run.ask("east", 3, 1, do="connect", port="isthmus:job-2/1")
    assert run.answers[1][3]["error"] == "port"


def test_a_name_may_be_another_runs(run):
    run.ask("east", 3, 0, do="lookup", service="there")
    run.ask("east", 3, 1, do="lookup", service="nowhere")
    assert [answer[3].get("port") for answer in run.answers] == ["far", None]
    assert run.waits == 0
    run.ask("east", 3, 2, do="lookup", service="there", limit=20)
    assert run.waits == 20
