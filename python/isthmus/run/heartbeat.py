"""Lets agents know that the launcher is there. In a run that survives, those that do not hear it
for longer than the patience of links go on without it (docs/surviving.md)."""

import asyncio

from isthmus.run.agent import Agent
from isthmus.run.members import Members

_TIMES = 20  # in a patience
_LONGEST = 10.0  # seconds between two beats
_LEAST = 10.0  # of patience: a busy host may not run this launcher for some seconds


class Heartbeat:
    """For one run. Needs a running loop."""

    def __init__(self, members: Members, patience: float | None) -> None:
        """`patience` is None if agents end with the launcher."""
        self._members = members
        self._patience = None if patience is None else max(_LEAST, patience)
        self._telling: dict[Agent, asyncio.Task[None]] = {}
        self._resting = False

    def begin(self) -> None:
        if self._patience is not None:
            self._members.later(self._beat(self._patience))

    def rest(self) -> None:
        """This launcher stops for a while, until `begin_again`. Also an agent that does not read
        now hears so, before it could miss a beat."""
        self._resting = True
        if self._patience is not None:
            for agent in self._listening():
                self._members.later(agent.send("alive", patience=0))

    def begin_again(self) -> None:
        self._resting = False

    async def _beat(self, patience: float) -> None:
        while True:
            if not self._resting:
                self._tell(patience)
            await asyncio.sleep(min(_LONGEST, patience / _TIMES))

    def _tell(self, patience: float) -> None:
        """An agent that does not read is not told again before it does."""
        under_way = {agent: task for agent, task in self._telling.items() if not task.done()}
        for agent in self._listening():
            if agent not in under_way:
                under_way[agent] = asyncio.create_task(agent.send("alive", patience=patience))
        self._telling = under_way

    def _listening(self) -> list[Agent]:
        return [member.agent for member in self._members if not member.lost]
