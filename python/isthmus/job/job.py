"""The life of a run: agents up, gateways linked, ranks started, output relayed, everything ended.

Everything that goes wrong is an outcome (outcome.py), and ends the run in the same way.
"""

import asyncio
import contextlib
import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from isthmus.base.endings import cannot_start_ranks
from isthmus.base.errors import EXIT_TIMEOUT, IsthmusError
from isthmus.base.grace import Grace
from isthmus.base.outcome import Ending, Weight
from isthmus.base.relay import InputRelay, Voice, stdin_is_ours
from isthmus.job.joboptions import JobOptions
from isthmus.job.losses import Losses
from isthmus.job.revival import Revival
from isthmus.meeting.abroad import Abroad
from isthmus.place.extension import Extensions
from isthmus.place.plan import Plan
from isthmus.profile.told import Told
from isthmus.run import latecomers
from isthmus.run.agent import Agent, Message
from isthmus.run.answers import ANSWERS
from isthmus.run.bringup import BringUp
from isthmus.run.closing import Closing
from isthmus.run.extending import Extending
from isthmus.run.growing import Growing
from isthmus.run.heartbeat import Heartbeat
from isthmus.run.leaving import Leaving
from isthmus.run.members import Member, Members
from isthmus.run.newcomers import Newcomers
from isthmus.run.ports import Ports
from isthmus.run.questions import Questions
from isthmus.run.rankoutput import RankOutput
from isthmus.run.reasons import Reasons
from isthmus.run.signals import Signals
from isthmus.run.silence import Silences
from isthmus.run.spawning import Spawning
from isthmus.run.stats import Stats
from isthmus.run.surviving import Surviving
from isthmus.run.suspension import Suspension
from isthmus.run.whereabouts import Whereabouts
from isthmus.seeing.gathering import Gathered, Gathering
from isthmus.seeing.lookout import Lookout


@dataclass
class Result:
    """`stats` has the counts of agents, `told` the profiles of ranks, `traces` the records of
    processes, if they were asked for."""

    status: int
    stats: Stats
    told: Told
    sentence: str = ""
    traces: Gathered | None = None


class Job:
    """Runs a plan once."""

    def __init__(
        self,
        plan: Plan,
        members: Members,
        options: JobOptions,
        voice: Voice,
    ) -> None:
        """`members` are those of the plan."""
        self._plan = plan
        self._options = options
        self._voice = voice
        self._members = members
        members.broken = self._broken
        self._silences = Silences(plan)
        self._whereabouts = Whereabouts(self._members)
        self._told = Told([rank for one in plan.clusters for rank in one.block.world_ranks])
        ports = self._ports = Ports(plan.job)
        self._abroad = Abroad(plan.job, self._members, ports, options.limits, voice)
        self._questions = Questions(
            plan.job, ports, self._abroad, self._reply, self._spawn, self._told.hear
        )
        self._gathering = Gathering(self._members) if options.trace else None
        self._traces: Gathered | None = None
        self._ending = Ending()
        self._newcomers = Newcomers(plan, self._ending, voice)
        asked = self._abroad.welcome, ports.lookup, self._newcomers.answer
        self._lookout = Lookout(plan, self._members, self._whereabouts, *asked, voice)
        self._spawning: Spawning | None = None
        self._revival: Revival | None = None
        self._reasons = Reasons(plan, self._members, self._ending)
        limits = options.limits
        self._watch = latecomers.Watch(
            plan, self._members, self._ending, voice, first=limits.late, limit=options.wait
        )
        self._extensions = Extensions()
        self._leaving = Leaving(self._members, limits, voice, options.batch)
        self._surviving = Surviving(
            plan,
            self._members,
            self._ending,
            self._leaving,
            voice,
            self._extensions,
            limits,
            ports.lose,
        )
        parts = self._members, self._extensions, self._surviving, self._reasons, self._ending
        self._losses = Losses(plan, *parts, voice, self._release)
        self._closing = Closing(self._members, self._ending, Grace(limits.grace), limits.kill)
        self._heartbeat = Heartbeat(self._members, plan.patience if plan.survival else None)
        self._signals = Signals(self._members, self._ending, self._tell_where)
        self._output: RankOutput | None = None
        self._input: InputRelay | None = None

    async def run(self) -> Result:
        """Never raises for troubles of the run; they become its status."""
        loop = asyncio.get_running_loop()
        self._output = RankOutput(self._voice, self._stdout_gone)
        self._signals.listen()
        if trouble := await self._lookout.open():
            self._voice.narrate(f"`isthmus ps` and `isthmus top` will not see this run: {trouble}")
        suspension = Suspension(self._members, self._heartbeat)
        timer = None
        if self._options.timeout is not None:
            timer = loop.call_later(self._options.timeout, self._out_of_time)
        stats = Stats()
        body = asyncio.create_task(self._life(stats))
        hurry = asyncio.create_task(self._signals.hurry.wait())
        try:
            await asyncio.wait({body, hurry}, return_when=asyncio.FIRST_COMPLETED)
            if not body.done():  # second Ctrl-C: agents end what they started by themselves
                body.cancel()
                for member in self._members:
                    member.agent.hang_up()
                if self._revival:
                    self._revival.hang_up()
                await asyncio.wait({body})
            elif error := body.exception():
                raise error
        finally:
            hurry.cancel()
            if timer:
                timer.cancel()
            suspension.stop()
            self._lookout.close()
            self._abroad.close()
            self._signals.forget()
        outcome = self._ending.outcome
        status = outcome.status if outcome else 0
        return Result(status, stats, self._told, self._ending.sentence, self._traces)

    async def _life(self, stats: Stats) -> None:
        try:
            whole = await self._ending.unless_begun(self._bring_up())
            if whole and await self._ending.unless_begun(self._until_exited()):
                self._reasons.look_for_joined()
            if self._ending.outcome:
                self._abroad.part()
                if self._gathering and any(member.joined for member in self._members.running):
                    await self._whereabouts.gather(traces=True)
                await self._closing.end_ranks()
            if self._options.stats or self._options.profile or self._gathering:
                await stats.collect(self._members, self._options.limits.close)
            if self._gathering:
                self._traces = await self._gathering.finish()
        finally:
            if self._input:
                self._input.stop()
            if self._revival:
                await self._revival.stop()
        await self._leaving.finish()
        await asyncio.gather(*(m.agent.close(self._options.limits.close) for m in self._members))
        assert self._output
        await self._output.drain()
        await self._reasons.hear_schedulers(self._options.batch)
        outcome = self._ending.outcome
        for said in self._output.last_words if outcome is None else ():
            self._voice.say(said)
        if outcome and outcome.sentence:
            self._voice.say(outcome.sentence)

    # -- the beginning -----------------------------------------------------------------------

    async def _bring_up(self) -> None:
        steps = BringUp(
            self._plan,
            [member.agent for member in self._members],
            os.urandom(32).hex(),
            self._options.limits,
            self._voice,
            self._options.metrics,
            traced=self._options.trace,
            native=self._options.native,
        )
        starting = [m.agent.start(self._heard, self._losses.lost) for m in self._members]
        await asyncio.gather(*starting)
        await steps.greet()
        await steps.configure()
        await steps.stage(self._options.stage)
        await steps.inspect()
        await steps.link()
        if self._gathering:
            await self._gathering.begin()
        # Ranks may run from here on. This is noted first, as an interrupt may come in between.
        for member in self._members.ranked:
            member.spawned = True
        ours = stdin_is_ours()
        limits, cwd = self._options.limits, str(Path.cwd())
        growing = Growing(self._plan, self._members, steps, limits, self._extensions)
        extending = Extending(
            growing,
            self._members,
            steps,
            self._surviving,
            self._leaving,
            limits,
            cwd,
            self._options.batch,
        )
        self._spawning = Spawning(
            growing,
            extending,
            self._members,
            steps,
            limits,
            cwd,
            self._voice,
            self._options.stage,
        )
        self._newcomers.begin(growing)
        ways = await self._abroad.open(growing, self._options.guests_at)
        self._revival = Revival(
            steps,
            growing,
            self._surviving.failures,
            ways,
            self._members,
            self._ending,
            self._voice,
            self._heard,
            self._losses.lost,
        )
        self._losses.begin(self._spawning, extending, self._revival)
        await steps.spawn(stdin=ours, tag_output=self._options.tag_output)
        self._heartbeat.begin()
        if ours:
            self._input = InputRelay(self._send_stdin)
        if not self._plan.alone:
            self._members.later(self._watch.begin())

    async def _send_stdin(self, data: bytes | None) -> None:
        """To the agent of world rank 0, which is the first with ranks."""
        member = self._members.ranked[0]
        agent = member.agent
        if member.failed:
            return  # nobody reads it any more
        if data is None:
            await agent.send("stdin-eof")
        else:
            await agent.send("stdin", data)

    # -- what agents say ---------------------------------------------------------------------

    async def _heard(self, agent: Agent, message: Message, payload: bytes) -> None:
        assert self._output
        member = self._members.of(agent)
        if member.dropped or (member.leaving and message["op"] not in ("output", "exit")):
            return
        match message["op"]:
            case "output":
                fd = 2 if message.get("fd") == 2 else 1
                self._reasons.output(member, fd, payload)
                await self._output.show(member, fd, payload, self._ending.sentence)
                if not member.killing:
                    member.verdict = member.chatter.slurm.verdict
            case "joined":
                # Sometimes only a gateway away from the ranks' agent knows this.
                self._joined(agent, message.get("cluster", member.cluster.name))
            case "count":
                self._counted(member, message)
            case "ask":
                self._questions.hear(agent, message)
            case "where":
                self._whereabouts.hear(message)
            case "look":
                self._lookout.hear(member, message)
            case "paused":
                member.paused = True
                self._members.changed()
            case "exit":
                member.joined = member.joined or bool(message.get("joined"))
                await self._output.rest(member)
                self._losses.exited(member, message)
            case "abort":
                self._reasons.abort(message)
                self._closing.heard()
            case "silence":
                if said := self._silences.sentence(message):
                    self._voice.say(said)
            case "parted":
                self._abroad.lost(str(message.get("run")))
            case "notice":
                said = f"{agent.label}: {message.get('message')}"
                (self._voice.warn if message.get("warning") else self._voice.narrate)(said)
            case "suspect":
                if not (self._spawning and self._spawning.suspected(message)):
                    self._surviving.suspect(message)
            case "fault":
                self._reasons.fault(message)
                self._closing.heard()
            case "error":
                why = str(message.get("message") or "its agent gave no reason")
                if not (self._spawning and self._spawning.failed(member, why)):
                    self._reasons.error(member, message)
            case op if op not in ANSWERS:  # a late answer is to a dropped request
                self._ending.end(1, f"{agent.label}: the agent sent '{op}' unasked", Weight.FAULT)

    def _counted(self, member: Member, message: Message) -> None:
        """A native launcher may have failed to start ranks, and wait."""
        counts = message.get("ranks")
        member.counts = counts if isinstance(counts, dict) else {}
        member.ready = member.ready or message.get("ready") is True
        why = "" if member.joined or member.exited else cannot_start_ranks(message)
        if why and not (self._spawning and self._spawning.failed(member, why)):
            self._ending.end(1, f"{member.agent.label}: {why}", Weight.EXIT)
        self._members.changed()

    def _joined(self, agent: Agent, cluster: object) -> None:
        for member in self._members.ranked:
            if member.cluster.name == cluster:
                member.joined = True
                if self._spawning:
                    self._spawning.joined(member)
        self._voice.narrate(f"{agent.label}: all ranks of cluster {cluster} have joined")
        self._reasons.look_for_waiting()

    def _reply(self, agent: Agent, rank: int, number: int, reply: Message) -> None:
        self._members.later(agent.send("answer", rank=rank, number=number, reply=reply))

    def _spawn(self, rank: int, entries: object, port: str, done: Callable[[str], None]) -> None:
        """Calls `done` with the reason if it failed, else with an empty string."""

        async def start() -> None:
            why = ""
            try:
                assert self._spawning
                commands = await self._spawning.commands(rank, entries)
                self._members.later(self._watch.begin())
                placed = partial(self._ports.expect, port)
                await self._spawning.spawn(
                    rank, commands, port, placed, self._heard, self._losses.lost
                )
            except IsthmusError as error:
                why = str(error)
            done(why)

        self._members.later(start())

    async def _release(self, member: Member) -> None:
        """Keeps nothing of spawned processes that ended well, except their traces."""
        if self._gathering:
            await self._gathering.take(member)
        await member.agent.close(self._options.limits.close)
        self._members.drop(member)

    # -- the end -----------------------------------------------------------------------------

    def _tell_where(self) -> None:
        self._members.later(self._whereabouts.say(self._voice))

    def _out_of_time(self) -> None:
        async def end() -> None:
            with contextlib.suppress(Exception):  # the limit holds whatever else goes wrong
                if any(member.joined for member in self._members.running):
                    await self._whereabouts.say(self._voice)
            limit = self._options.timeout
            self._ending.end(EXIT_TIMEOUT, f"the time limit of {limit:g} s has passed", Weight.USER)

        self._members.later(end())

    def _broken(self, error: Exception) -> None:
        """An unexpected error in the background ends the run: somebody may wait for that work."""
        if isinstance(error, IsthmusError):
            self._voice.warn(str(error))
            return
        traceback.print_exception(error)
        said = (
            f"a defect of Isthmus ended the run: {error!r}\n  Report it, with the traceback above."
        )
        self._ending.end(1, said, Weight.FAULT)

    def _stdout_gone(self) -> None:
        self._ending.end(128 + signal.SIGPIPE, "", Weight.USER)

    async def _until_exited(self) -> None:
        await self._members.until(
            lambda: (
                all(m.exited or m.failed for m in self._members.ranked)
                and not self._surviving.undecided
            )
        )
