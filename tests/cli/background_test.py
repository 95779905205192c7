"""Errors in the background of a run are reported, because something may wait for the result."""

import asyncio
import threading

import pytest

from isthmus.base.errors import RunError
from isthmus.grid import grid as grids
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.run.agent import Agent
from isthmus.run.members import Members

SAYS_TWO = ["sh", "-c", """echo '{"op": "hello"}'; echo '{"op": "oddity"}'; cat >/dev/null"""]


def test_work_that_fails_is_told():
    plan = make_plan(grids.parse("[cluster.east]\n", "g.toml"), [Part(["x"], 2)])

    async def fails():
        raise ValueError("unexpected")

    async def main():
        broken = asyncio.get_running_loop().create_future()
        members = Members(plan, [["true"]])
        members.broken = broken.set_result
        members.later(fails())
        return await broken

    assert str(asyncio.run(asyncio.wait_for(main(), 60))) == "unexpected"


def test_an_agent_whose_words_cannot_be_handled_is_lost(capsys):
    async def fails(agent, message, payload):
        raise KeyError(message["op"])

    async def main():
        lost = asyncio.get_running_loop().create_future()
        agent = Agent("cluster east", SAYS_TWO, target=None)
        await agent.start(fails, lambda _, sentence: lost.set_result(sentence))
        await agent.hello(60)
        try:
            return await lost
        finally:
            agent.hang_up()
            await agent.close(60)

    said = asyncio.run(asyncio.wait_for(main(), 60))
    assert "cluster east: a message of the agent could not be handled: KeyError('oddity')" in said
    assert "Traceback" in capsys.readouterr().err


def test_a_request_gets_no_answer_from_an_agent_that_is_ended():
    async def ignores(agent, message, payload):
        pass

    async def main():
        agent = Agent("cluster east", SAYS_TWO, target=None)
        await agent.start(ignores, lambda *_: None)
        await agent.hello(60)
        asked = asyncio.ensure_future(agent.request("grow", "grown", 3600))
        await asyncio.sleep(0)
        await agent.close(60)
        with pytest.raises(RunError, match="cluster east: the agent has been ended"):
            await asked
        with pytest.raises(RunError, match="has been ended"):
            await agent.request("grow", "grown", 3600)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_an_agent_needs_no_thread_of_the_launcher(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    async def ignores(agent, message, payload):
        pass

    async def main():
        agent = Agent("cluster east", SAYS_TWO, target=None)
        await agent.start(ignores, lambda *_: None)
        await agent.hello(60)
        agent.hang_up()
        await agent.close(60)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    asyncio.run(asyncio.wait_for(main(), 60))


STARTS_SLOWLY = """until [ -e "$0" ]; do sleep 0.01; done; echo '{"op": "hello"}'; read -r first
case $first in *stats*) echo '{"op": "stats"}';; esac; cat >/dev/null"""


def test_an_agent_that_is_not_up_is_sent_nothing(tmp_path):
    """Its setup would take that for the end."""
    up = tmp_path / "up"

    async def ignores(agent, message, payload):
        pass

    async def main():
        agent = Agent("cluster east", ["sh", "-c", STARTS_SLOWLY, str(up)], target=None)
        await agent.start(ignores, lambda *_: None)
        await agent.send("failed", cluster=1, message="it has failed")
        up.touch()
        await agent.hello(60)
        try:
            return await agent.request("stats", "stats", 60)
        finally:
            agent.hang_up()
            await agent.close(60)

    assert asyncio.run(asyncio.wait_for(main(), 120))["op"] == "stats"
