"""Relays that die are started again, where they listened before. Their neighbours connect again,
and send what was lost (docs/protocol.md, "When a relay is started anew")."""

import asyncio
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from isthmus.base.errors import IsthmusError
from isthmus.base.outcome import Ending, Weight
from isthmus.base.relay import Voice
from isthmus.base.units import format_time
from isthmus.meeting.ways import OwnWays
from isthmus.run.agent import Agent, Handler, Message, OnLost
from isthmus.run.bringup import BringUp
from isthmus.run.command import shell_at
from isthmus.run.growing import Growing
from isthmus.run.members import Member, Members

_PAUSE, _MOST_PAUSE = 0.2, 15.0  # seconds between attempts
_CLOSE = 2.0  # seconds that a failed attempt has to end
_REACH = 20.0  # seconds that a command at the relay's host may need


async def _end_there(host: str, pid: int) -> None:
    """Ends an agent there, if it still runs. In a run that survives, an agent that has lost its ssh
    goes on without this launcher, and keeps its ports. It must not say goodbye."""
    runs = f'"$(tr "\\0" " " </proc/{pid}/cmdline 2>/dev/null)"'
    text = f"case {runs} in *isthmusd' gateway '*) kill -KILL {pid};; esac"
    process = await asyncio.create_subprocess_exec(
        *shell_at(host, text),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(process.wait(), _REACH)
    if process.returncode is None:
        process.kill()
        await process.wait()


@dataclass(eq=False, repr=False)
class Revival:
    """For the relays of a run, once its ranks have started. `_failures` are those of Surviving.
    `_heard` and `_lost` are callbacks for new agents."""

    _steps: BringUp
    _growing: Growing
    _failures: Sequence[tuple[int, str]]
    _ways: OwnWays
    _members: Members
    _ending: Ending
    _voice: Voice
    _heard: Handler
    _lost: OnLost
    _under_way: dict[asyncio.Task[None], Agent | None] = field(default_factory=dict, init=False)

    def takes(self, member: Member, sentence: str, *, spare: bool) -> bool:
        """Whether the member is started again; a warning then says so. A `spare` one only with
        guests."""
        if not self._is_relay(member) or self._ending.begun.is_set():
            return False
        if spare and not self._ways.opened_at(member):
            return False
        self._voice.warn(f"{sentence}; it is started again, and its traffic is kept meanwhile")
        task = asyncio.create_task(self._again(member, sentence))
        self._under_way[task] = None
        task.add_done_callback(self._under_way.pop)
        return True

    async def stop(self) -> None:
        """Ends unfinished attempts."""
        tasks = [*self._under_way]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def hang_up(self) -> None:
        for agent in self._under_way.values():
            if agent:
                agent.hang_up()

    def _is_relay(self, member: Member) -> bool:
        return member.cluster.name in self._growing.plan.relays and not any(
            place.listen.startswith("unix:")
            for gateway in member.plan.gateways
            for place in gateway.places
        )

    def _patience(self, member: Member) -> float:
        """The longest patience of its links, in seconds."""
        nodes = {gateway.node for gateway in member.plan.gateways}
        links = [link for link in self._growing.plan.links if nodes & {link.source, link.target}]
        own = [link.spec.patience.seconds for link in links if link.spec.patience]
        return max(own, default=self._growing.plan.patience)

    async def _again(self, member: Member, first: str) -> None:
        began, patience = time.monotonic(), self._patience(member)
        pause = _PAUSE
        lost = member.agent
        await lost.close(_CLOSE)
        while True:
            if self._growing.plan.survival and lost.target and lost.pid > 1:
                await _end_there(lost.target, lost.pid)
            trouble = await self._attempt(member)
            if not trouble:
                self._voice.say(f"{member.agent.label}: is back")
                return
            self._voice.narrate(trouble)
            if time.monotonic() - began > patience:
                limit = format_time(patience)
                said = f"{first}, and could not be started again within {limit}: {trouble}"
                self._ending.end(1, said, Weight.FAULT)
                self._members.changed()
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MOST_PAUSE)

    async def _attempt(self, member: Member) -> str:
        """Returns why it failed, or an empty string."""
        agent = self._members.another(member)
        task = asyncio.current_task()
        assert task
        self._under_way[task] = agent
        is_up = False

        async def heard(speaker: Agent, message: Message, payload: bytes) -> None:
            if is_up:
                await self._heard(speaker, message, payload)

        def lost(speaker: Agent, sentence: str) -> None:
            if is_up:
                self._lost(speaker, sentence)

        try:
            await agent.start(heard, lost)
            await self._steps.hear(agent)
            async with self._growing.turn:
                await self._growing.again(member, agent)
                await self._ways.again(member, agent)
                self._members.replace(member, agent)
                is_up = True
                for cluster, why in [*self._failures]:
                    await agent.send("failed", cluster=cluster, message=why)
                for told in self._growing.news:
                    await agent.send("spare", **told)
        except IsthmusError as error:
            return str(error)
        finally:
            if not is_up:
                agent.hang_up()
                await agent.close(_CLOSE)
        return ""
