"""The launcher tells agents that it is alive. The agents are fakes."""

import asyncio
from types import SimpleNamespace

from isthmus.run.heartbeat import Heartbeat


class Agent:
    def __init__(self, *, reads=True):
        self.reads = reads
        self.heard = []

    async def send(self, op, *, patience):
        self.heard.append((op, patience))
        if not self.reads:
            await asyncio.Event().wait()


class Members(list):
    def __init__(self, *agents):
        super().__init__(SimpleNamespace(lost=False, agent=agent) for agent in agents)
        self.tasks = []

    def later(self, work):
        self.tasks.append(asyncio.create_task(work))


def beats(*agents, then=lambda heartbeat: None):
    """A beat, and what follows `then`."""

    async def run():
        heartbeat = Heartbeat(Members(*agents), 30.0)
        heartbeat.begin()
        for _ in range(5):
            await asyncio.sleep(0)
        then(heartbeat)
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(run())


def test_an_agent_that_does_not_read_hears_of_a_rest():
    slow = Agent(reads=False)
    beats(slow, then=Heartbeat.rest)
    assert slow.heard == [("alive", 30.0), ("alive", 0)]
