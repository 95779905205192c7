"""The life of a run: agents up, gateways linked, ranks started, output relayed, everything ended.

Everything that goes wrong is an outcome (outcome.py), and ends the run in the same way.
"""

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus import latecomers, routes
from isthmus.agent import Agent, Message
from isthmus.bringup import BringUp, Limits
from isthmus.endings import how_ended, of_the_rank
from isthmus.errors import EXIT_TIMEOUT, IsthmusError
from isthmus.members import Member, Members
from isthmus.outcome import Ending, Weight
from isthmus.plan import Plan
from isthmus.questions import Questions
from isthmus.rankoutput import RankOutput
from isthmus.relay import InputRelay, Voice, stdin_is_ours
from isthmus.silence import Silences
from isthmus.spawning import Spawning
from isthmus.staging import StagedFile
from isthmus.stats import Stats
from isthmus.suspension import Suspension
from isthmus.units import parse_time
from isthmus.whereabouts import Whereabouts

if TYPE_CHECKING:
    from isthmus.meeting.arrival import Arrival

_FORWARDED = (signal.SIGUSR1, signal.SIGUSR2)
_ANSWERS = (
    "hello",
    "configured",
    "program",
    "linked",
    "spawned",
    "grown",
    "stats",
    "stage",
    "staged",
)
_UNJOINED_GRACE = 1.0  # seconds
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Options:
    """What of the command line is for the whole run."""

    timeout: float | None = None
    wait: float | None = None
    tag_output: bool = False
    stats: bool = False
    metrics: tuple[str, int] | None = None
    stage: Sequence[StagedFile] = ()
    limits: Limits = field(default_factory=Limits)
    why_gone: Callable[[str], Awaitable[str]] | None = None
    """Asks the scheduler of a cluster whose agent was lost; empty where that knows nothing."""


@dataclass
class Result:
    """`stats` has what the agents counted, when it was asked for."""

    status: int
    stats: Stats
    sentence: str = ""


class Job:
    """Runs a plan once."""

    def __init__(
        self,
        plan: Plan,
        commands: Sequence[Sequence[str]],
        options: Options,
        voice: Voice,
        arrivals: "Mapping[str, Arrival] | None" = None,
    ) -> None:
        """`commands[i]` starts the agent `plan.agents[i]`, unless it is one of `arrivals`."""
        self._plan = plan
        self._options = options
        self._voice = voice
        self._members = Members(
            plan, commands, voice.say if os.environ.get("ISTHMUS_LOG") else None, arrivals
        )
        self._silences = Silences(plan)
        self._whereabouts = Whereabouts(self._members)
        self._questions = Questions(plan.job, self._reply, self._spawn)
        self._spawning: Spawning | None = None
        self._ending = Ending()
        self._interrupts = 0
        self._hurry = asyncio.Event()
        self._output: RankOutput | None = None
        self._input: InputRelay | None = None

    async def run(self) -> Result:
        """Never raises for what goes wrong with the run; that is the status."""
        loop = asyncio.get_running_loop()
        self._output = RankOutput(self._plan, self._voice, self._stdout_gone)
        for number in _ENDING:
            loop.add_signal_handler(number, self._interrupt, number)
        for number in _FORWARDED:
            loop.add_signal_handler(number, self._forward, number)
        loop.add_signal_handler(signal.SIGQUIT, self._tell_where)
        suspension = Suspension(self._members)
        timer = None
        if self._options.timeout is not None:
            timer = loop.call_later(self._options.timeout, self._out_of_time)
        stats = Stats()
        body = asyncio.create_task(self._life(stats))
        hurry = asyncio.create_task(self._hurry.wait())
        try:
            await asyncio.wait({body, hurry}, return_when=asyncio.FIRST_COMPLETED)
            if not body.done():  # second Ctrl-C: agents end what they started by themselves
                body.cancel()
                for member in self._members:
                    member.agent.hang_up()
                await asyncio.wait({body})
            elif error := body.exception():
                raise error
        finally:
            hurry.cancel()
            if timer:
                timer.cancel()
            suspension.stop()
            for number in (*_ENDING, *_FORWARDED, signal.SIGQUIT):
                loop.remove_signal_handler(number)
        outcome = self._ending.outcome
        return Result(outcome.status if outcome else 0, stats, self._ending.sentence)

    async def _life(self, stats: Stats) -> None:
        try:
            whole = await self._unless_ending(self._bring_up())
            if whole and await self._unless_ending(self._until_exited()):
                self._check_joined()
            if self._ending.outcome:
                await self._end_ranks()
            if self._options.stats:
                await self._collect(stats)
        finally:
            if self._input:
                self._input.stop()
        await asyncio.gather(*(m.agent.close(self._options.limits.close) for m in self._members))
        assert self._output
        await self._output.drain()
        await self._hear_schedulers()
        outcome = self._ending.outcome
        for said in self._output.last_words if outcome is None else ():
            self._voice.say(said)
        if outcome and outcome.sentence:
            self._voice.say(outcome.sentence)

    async def _hear_schedulers(self) -> None:
        """Where a scheduler has ended a cluster's ranks, its words are the reason of all else."""
        outcome = self._ending.outcome
        if outcome is None or outcome.weight not in (Weight.EXIT, Weight.FAULT):
            return
        for member in self._members.ranked:
            if member.lost and not member.verdict and self._options.why_gone:
                cluster = self._plan.places[member.plan.cluster].name
                member.verdict = await self._options.why_gone(cluster)
            if member.verdict:
                said = f"{member.agent.label}: {member.verdict}"
                self._ending.replace(outcome.status or 1, said)
                return

    async def _unless_ending(self, work: Coroutine[Any, Any, None]) -> bool:
        """Does the work, or drops it when the run has to end. True when it was done."""
        task = asyncio.create_task(work)
        ending = asyncio.create_task(self._ending.begun.wait())
        try:
            await asyncio.wait({task, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
            if not task.done():
                task.cancel()
            await asyncio.wait({task})
        if task.cancelled():
            return False
        if error := task.exception():
            if not isinstance(error, IsthmusError):
                raise error
            self._ending.end(error.status, str(error), Weight.FAULT)
            return False
        return not self._ending.begun.is_set()

    # -- the beginning -----------------------------------------------------------------------

    async def _bring_up(self) -> None:
        steps = BringUp(
            self._plan,
            [member.agent for member in self._members],
            secrets.token_hex(32),
            self._options.limits,
            self._voice,
            self._options.metrics,
        )
        starting = [m.agent.start(self._heard, self._agent_lost) for m in self._members]
        await asyncio.gather(*starting)
        await steps.greet()
        await steps.configure()
        await steps.stage(self._options.stage)
        await steps.inspect()
        await steps.link()
        # From here on ranks may run; said before, because an interrupt may come in between.
        for member in self._members.ranked:
            member.spawned = True
        ours = stdin_is_ours()
        self._spawning = Spawning(
            self._plan, self._members, steps, self._options.limits, str(Path.cwd())
        )
        await steps.spawn(stdin=ours, tag_output=self._options.tag_output)
        if ours:
            self._input = InputRelay(self._send_stdin)
        if not self._plan.alone:
            self._members.later(self._watch_latecomers())

    async def _send_stdin(self, data: bytes | None) -> None:
        """To the agent of world rank 0, which is the first with ranks."""
        agent = self._members.ranked[0].agent
        if data is None:
            await agent.send("stdin-eof")
        else:
            await agent.send("stdin", data)

    async def _watch_latecomers(self) -> None:
        late = await latecomers.watch(
            self._missing,
            self._voice.say,
            first=self._options.limits.late,
            limit=self._options.wait,
            of_clusters=[parse_time(c.spec.wait) for c in self._plan.clusters if c.spec.wait],
        )
        if late:
            whose = "the grid file" if self._options.wait is None else "--wait"
            self._ending.end(EXIT_TIMEOUT, f"{late}, and {whose} allows no more", Weight.USER)

    async def _missing(self) -> list[latecomers.Missing]:
        return [] if self._ending.begun.is_set() else await latecomers.missing(self._members)

    # -- what agents say ---------------------------------------------------------------------

    async def _heard(self, agent: Agent, message: Message, payload: bytes) -> None:
        assert self._output
        member = self._members.of(agent)
        if member.dropped:
            return
        match message["op"]:
            case "output":
                fd = 2 if message.get("fd") == 2 else 1
                await self._output.show(member, fd, payload, self._ending.sentence)
                if not self._ending.killing:
                    member.verdict = member.chatter.slurm.verdict
            case "joined":
                # A gateway that is not beside the ranks' agent knows it alone.
                self._joined(agent, message.get("cluster", member.cluster.name))
            case "count":
                counts = message.get("ranks")
                member.counts = counts if isinstance(counts, dict) else {}
                self._members.changed()
            case "ask":
                self._questions.hear(agent, message)
            case "where":
                self._whereabouts.hear(message)
            case "paused":
                member.paused = True
                self._members.changed()
            case "exit":
                member.joined = member.joined or bool(message.get("joined"))
                told = self._spawning is not None and self._spawning.starts(member)
                await self._output.rest(member, told=told)
                self._exited(member, message)
            case "abort":
                code = _integer(message.get("code"), 1)
                said = f"rank {message.get('rank')} called MPI_Abort with code {code}"
                extra = str(message.get("message") or "")
                if extra and "MPI_Abort" not in extra:
                    said += f": {extra}"
                self._ending.end((code & 0xFF) or 1, said, Weight.ABORT)
            case "silence":
                if said := self._silences.sentence(message):
                    self._voice.say(said)
            case "notice":
                said = f"{agent.label}: {message.get('message')}"
                (self._voice.warn if message.get("warning") else self._voice.narrate)(said)
            case "fault":
                self._faulted(message)
            case "error":
                said = str(message.get("message") or "the agent gave no reason")
                if self._spawning and self._spawning.failed(member, said):
                    return
                remedy = message.get("remedy")
                self._ending.end(
                    1, f"{agent.label}: {said}" + (f"\n  {remedy}" if remedy else ""), Weight.FAULT
                )
            case op if op not in _ANSWERS:  # a late one is to what was dropped
                self._ending.end(1, f"{agent.label}: the agent said '{op}', unasked", Weight.FAULT)

    def _joined(self, agent: Agent, cluster: object) -> None:
        for member in self._members.ranked:
            if member.cluster.name == cluster:
                member.joined = True
                if self._spawning:
                    self._spawning.joined(member)
        self._voice.narrate(f"{agent.label}: all ranks of cluster {cluster} have joined")
        self._check_waiting()

    def _reply(self, agent: Agent, rank: int, number: int, reply: Message) -> None:
        self._members.later(agent.send("answer", rank=rank, number=number, reply=reply))

    def _spawn(self, rank: int, commands: object, port: str, done: Callable[[str], None]) -> None:
        """`done` is told why it could not be done, or nothing."""

        async def start() -> None:
            why = ""
            try:
                assert self._spawning
                await self._spawning.spawn(rank, commands, port, self._heard, self._agent_lost)
            except IsthmusError as error:
                why = str(error)
            done(why)

        self._members.later(start())

    def _faulted(self, message: Message) -> None:
        code = _integer(message.get("code"), 1)
        said = str(message.get("message") or "the agent reports a fault without a reason")
        status = (code & 0xFF) or 1
        for member in self._members.ranked if status == 1 else ():
            if member.exited:  # what broke may be a rank whose end has been heard of before
                cluster = member.cluster.name
                how = _how(member, member.exited)
                told = of_the_rank(said, cluster, *how)
                status, said = (how[0] & 0xFF or 1, told) if told != said else (status, said)
        self._ending.end(status, said, Weight.FAULT)

    def _exited(self, member: Member, message: Message) -> None:
        member.exited = message
        label = member.agent.label
        status, number = _how(member, message)
        self._voice.narrate(f"{label}: ended with status {status}")
        if not member.joined and self._spawning and self._spawning.exited(member, status, number):
            return
        before = self._ending.outcome
        if (
            before
            and before.weight == Weight.FAULT
            and before.status == 1
            and not self._ending.killing
        ):
            # What broke was a rank, and here is how it ended.
            cluster = member.cluster.name
            sentence = of_the_rank(before.sentence, cluster, status, number)
            self._ending.replace(status & 0xFF or 1, sentence)
        elif status:
            said = f"{label}: the program {how_ended(status, number)}"
            self._ending.end(status & 0xFF or 1, said, Weight.EXIT)
        elif message.get("joined") and not message.get("finalized"):
            what = "a rank ended without MPI_Finalize"
            self._ending.end(1, f"{label}: {what}, while the others may wait for it", Weight.EXIT)
        if not status and all(member.plan is not agent for agent in self._plan.agents):
            self._members.later(self._release(member))
        self._check_waiting()
        self._members.changed()

    async def _release(self, member: Member) -> None:
        """Of processes that were spawned and have ended well, nothing is kept."""
        await member.agent.close(self._options.limits.close)
        self._members.drop(member)

    def _check_waiting(self) -> None:
        """A cluster that ends well without MPI_Init leaves those who joined waiting for ever."""
        gone = [m for m in self._members.ranked if m.exited and not m.joined]
        waiting = [m for m in self._members.ranked if m.joined and not m.exited]
        if gone and waiting:
            self._ending.end(
                1,
                f"{gone[0].agent.label}: the program ended without MPI_Init, while "
                f"{waiting[0].agent.label} has called it and waits\n"
                "  Is it an MPI program, and linked to MPI dynamically?",
                Weight.EXIT,
            )

    def _check_joined(self) -> None:
        """Ranks that never joined ran as so many worlds of their own: seldom what was meant."""
        if not self._plan.alone and not any(member.joined for member in self._members.ranked):
            self._ending.end(
                1,
                "the program ended without MPI_Init in every cluster\n"
                "  Is it an MPI program, and linked to MPI dynamically?",
                Weight.EXIT,
            )

    def _agent_lost(self, agent: Agent, sentence: str) -> None:
        member = self._members.of(agent)
        if member.dropped:
            return
        member.lost = True
        if self._spawning and self._spawning.failed(member, sentence):
            pass
        elif self._is_spare(member):
            self._voice.warn(f"{sentence}; the other gateways of the cluster go on")
        elif member.spawned or not agent.told:  # else the step of the bring-up fails
            self._ending.end(1, sentence, Weight.FAULT)
        self._members.changed()

    def _is_spare(self, member: Member) -> bool:
        """Only gateways are lost with it, and others of the cluster are left. If some rank needed
        it all the same, its own agent says so."""
        if member.plan.has_ranks or not all(other.spawned for other in self._members.ranked):
            return False
        left = [g for other in self._members if not other.lost for g in other.plan.gateways]
        count = len(self._plan.clusters)
        if all(c >= count for gateway in member.plan.gateways for c in gateway.clusters):
            # It only forwarded: others have to, in its place.
            stand = {g.node: [c for c in g.clusters if c < count] for g in left}
            return routes.all_joined(count, stand, self._plan.links)
        return all(
            any(cluster in other.clusters for other in left)
            for gateway in member.plan.gateways
            for cluster in gateway.clusters
            if cluster < len(self._plan.clusters)
        )

    # -- the end -----------------------------------------------------------------------------

    def _interrupt(self, number: signal.Signals) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            self._hurry.set()
        self._ending.end(128 + number, f"{number.name}: ended everything", Weight.USER)

    def _forward(self, number: signal.Signals) -> None:
        for member in self._members.ranked:
            self._members.later(member.agent.send("signal", signal=int(number)))

    def _tell_where(self) -> None:
        async def tell() -> None:
            if not await self._say_where():
                self._voice.say("no rank can say where it is")

        self._members.later(tell())

    async def _say_where(self) -> bool:
        """False: nobody has answered, and nothing was said."""
        if lines := await self._whereabouts.ask():
            self._voice.say("the ranks are in:\n" + "\n".join(f"  {line}" for line in lines))
        return bool(lines)

    def _out_of_time(self) -> None:
        async def end() -> None:
            with contextlib.suppress(Exception):  # the limit holds whatever else goes wrong
                if any(member.joined for member in self._members.running):
                    await self._say_where()
            limit = self._options.timeout
            self._ending.end(EXIT_TIMEOUT, f"the time limit of {limit:g} s has passed", Weight.USER)

        self._members.later(end())

    def _stdout_gone(self) -> None:
        self._ending.end(128 + signal.SIGPIPE, "", Weight.USER)

    async def _until_exited(self) -> None:
        await self._members.until(lambda: all(member.exited for member in self._members.ranked))

    async def _end_ranks(self) -> None:
        """Ends all ranks and waits, within bounds, for what is still to be heard of them."""
        limits = self._options.limits
        if self._ending.outcome and self._ending.outcome.weight != Weight.USER:
            # What ended one part ends the others as well; killing in the middle of that makes
            # native launchers stumble, and hides the reason. Where no cluster has joined, hardly
            # a rank has heard of it.
            heard_of = any(member.joined for member in self._members.ranked)
            await self._gone(limits.grace if heard_of else min(limits.grace, _UNJOINED_GRACE))
        self._ending.killing = True
        running = self._members.running
        heard = await asyncio.gather(*(member.agent.order("kill") for member in running))
        for member, well in zip(running, heard, strict=True):
            member.lost = member.lost or not well
        await self._gone(limits.kill)

    async def _gone(self, limit: float) -> None:
        """Waits for the end of all that was spawned, at most `limit` seconds."""

        def gone() -> bool:
            return all(m.exited or m.lost for m in self._members.ranked if m.spawned)

        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._members.until(gone), limit)

    async def _collect(self, stats: Stats) -> None:
        for member in self._members:
            if member.lost or not member.plan.gateways:
                continue
            try:
                answer = await member.agent.request("stats", "stats", self._options.limits.close)
            except IsthmusError:
                continue  # the run's own outcome is told; this is not the place for another
            own = {gateway.node for gateway in member.plan.gateways}
            stats.add(answer, member.plan.cluster, own)


def _how(member: Member, message: Message) -> tuple[int, int | None]:
    """Of an `exit`: the status as a shell has it, and the signal if there was one."""
    if (number := message.get("signal")) is not None:
        return 128 + _integer(number, 0), _integer(number, 0)
    status = _integer(message.get("status"), 1)
    return status, member.chatter.signal if status else None


def _integer(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def run_job(
    plan: Plan, commands: Sequence[Sequence[str]], options: Options, voice: Voice
) -> Result:
    """Runs to the end in a loop of its own."""

    async def main() -> Result:
        return await Job(plan, commands, options, voice).run()

    return asyncio.run(main())
