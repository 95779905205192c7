"""The life of a run: agents up, gateways linked, ranks started, output relayed, everything ended.

A run ends by an *outcome*: an exit status and, unless all went well, a sentence. The first outcome
of the highest weight is the one reported; whichever comes first starts the ending.
"""

import asyncio
import contextlib
import secrets
import signal
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from isthmus import latecomers
from isthmus.agent import Agent, Message
from isthmus.bringup import BringUp, Limits
from isthmus.chatter import Chatter, LastWords
from isthmus.endings import how_ended, of_the_rank
from isthmus.errors import EXIT_TIMEOUT, IsthmusError
from isthmus.latecomers import Missing
from isthmus.plan import AgentPlan, Plan
from isthmus.relay import InputRelay, OutputRelay, Voice, stdin_is_ours
from isthmus.silence import Silences
from isthmus.stats import Stats

_FORWARDED = (signal.SIGUSR1, signal.SIGUSR2)
_PAUSE_LIMIT = 2.0  # seconds that agents have to stop their ranks before the launcher stops
_ANSWERS = ("hello", "configured", "program", "linked", "spawned", "stats")
_UNJOINED_GRACE = 1.0  # seconds
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Which outcome is told when several come at once: a request of the user, MPI_Abort, a broken part,
# and last the exit status of a program, which all of these bring about.
_USER, _ABORT, _FAULT, _EXIT = 4, 3, 2, 1


@dataclass(frozen=True)
class Options:
    """What of the command line is for the whole run."""

    timeout: float | None = None
    wait: float | None = None
    tag_output: bool = False
    stats: bool = False
    metrics: tuple[str, int] | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Outcome:
    status: int
    sentence: str
    weight: int


@dataclass
class Member:
    """An agent of the run and what is known of its ranks."""

    plan: AgentPlan
    agent: Agent
    spawned: bool = False
    joined: bool = False
    count: int | None = None  # of the ranks here that have joined; None: not known now
    paused: bool = False
    exited: Message | None = None
    lost: bool = False
    chatter: Chatter = field(default_factory=Chatter)


@dataclass
class Result:
    """`stats` has what the agents counted, when it was asked for."""

    status: int
    stats: Stats


class Job:
    """Runs a plan once."""

    def __init__(
        self, plan: Plan, commands: Sequence[Sequence[str]], options: Options, voice: Voice
    ) -> None:
        """`commands[i]` starts the agent `plan.agents[i]`."""
        self._plan = plan
        self._options = options
        self._voice = voice
        self._members = [
            Member(spec, Agent(plan.where(spec), command, target=spec.host))
            for spec, command in zip(plan.agents, commands, strict=True)
        ]
        self._by_agent = {id(member.agent): member for member in self._members}
        self._silences = Silences(plan)
        self._outcome: Outcome | None = None
        self._ending = asyncio.Event()
        self._changed = asyncio.Event()
        self._killing = False
        self._interrupts = 0
        self._suspending = False
        self._hurry = asyncio.Event()
        self._last_words = LastWords()
        self._output: OutputRelay | None = None
        self._input: InputRelay | None = None
        self._background: set[asyncio.Task[None]] = set()

    @property
    def _ranked(self) -> list[Member]:
        return [member for member in self._members if member.plan.has_ranks]

    async def run(self) -> Result:
        """Never raises for what goes wrong with the run; that is the status."""
        loop = asyncio.get_running_loop()
        self._output = OutputRelay(self._stdout_gone)
        for number in _ENDING:
            loop.add_signal_handler(number, self._interrupt, number)
        for number in _FORWARDED:
            loop.add_signal_handler(number, self._forward, number)
        stoppable = signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN
        if stoppable:
            loop.add_signal_handler(signal.SIGTSTP, self._suspend)
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
            for number in (*_ENDING, *_FORWARDED, *((signal.SIGTSTP,) if stoppable else ())):
                loop.remove_signal_handler(number)
        return Result(self._outcome.status if self._outcome else 0, stats)

    async def _life(self, stats: Stats) -> None:
        try:
            whole = await self._unless_ending(self._bring_up())
            if whole and await self._unless_ending(self._until_exited()):
                self._check_joined()
            if self._outcome:
                await self._end_ranks()
            if self._options.stats:
                await self._collect(stats)
        finally:
            if self._input:
                self._input.stop()
        await asyncio.gather(*(m.agent.close(self._options.limits.close) for m in self._members))
        assert self._output
        await self._output.drain()
        outcome = self._outcome
        for said in self._last_words.kept if outcome is None else ():
            self._voice.say(said)
        if outcome and outcome.sentence:
            self._voice.say(outcome.sentence)

    async def _unless_ending(self, work: Coroutine[Any, Any, None]) -> bool:
        """Does the work, or drops it when the run has to end. True when it was done."""
        task = asyncio.create_task(work)
        ending = asyncio.create_task(self._ending.wait())
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
            self._end(error.status, str(error), _FAULT)
            return False
        return not self._ending.is_set()

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
        await steps.inspect()
        await steps.link()
        # From here on ranks may run; said before, because an interrupt may come in between.
        for member in self._ranked:
            member.spawned = True
        ours = stdin_is_ours()
        await steps.spawn(stdin=ours, tag_output=self._options.tag_output)
        if ours:
            self._input = InputRelay(self._send_stdin)
        if not self._plan.alone:
            self._later(self._watch_latecomers())

    async def _send_stdin(self, data: bytes | None) -> None:
        """To the agent of world rank 0, which is the first with ranks."""
        agent = self._ranked[0].agent
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
        )
        if late:
            self._end(EXIT_TIMEOUT, f"{late}, and --wait allows no more", _USER)

    async def _missing(self) -> list[Missing]:
        """The clusters that have not joined, and how many of their ranks have, as agents say."""

        def late() -> list[Member]:
            return [m for m in self._ranked if not (m.joined or m.exited or m.lost)]

        if not late() or self._ending.is_set():
            return []
        for member in self._members:
            member.count = None
            self._later(member.agent.send("count"))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._counted(), 2)
        found = []
        for member in late():
            cluster = member.plan.cluster
            known = [m.count or 0 for m in self._members if m.plan.cluster == cluster]
            size = self._plan.clusters[cluster].block.size
            found.append(Missing(member.agent.label, max(known), size))
        return found

    async def _counted(self) -> None:
        while any(m.count is None and not m.lost for m in self._members):
            self._changed.clear()
            await self._changed.wait()

    # -- what agents say ---------------------------------------------------------------------

    async def _heard(self, agent: Agent, message: Message, payload: bytes) -> None:
        member = self._by_agent[id(agent)]
        match message["op"]:
            case "output":
                await self._show(member, 2 if message.get("fd") == 2 else 1, payload)
            case "joined":
                # A gateway that is not beside the ranks' agent knows it alone.
                for other in self._ranked:
                    if other.plan.cluster == member.plan.cluster:
                        other.joined = True
                self._voice.narrate(f"{agent.label}: all ranks have joined")
                self._check_waiting()
            case "count":
                member.count = _integer(message.get("ranks"), 0)
                self._changed.set()
            case "paused":
                member.paused = True
                self._changed.set()
            case "exit":
                await self._tell_chatter(member, message)
                self._exited(member, message)
            case "abort":
                code = _integer(message.get("code"), 1)
                said = f"rank {message.get('rank')} called MPI_Abort with code {code}"
                extra = str(message.get("message") or "")
                if extra and "MPI_Abort" not in extra:
                    said += f": {extra}"
                self._end((code & 0xFF) or 1, said, _ABORT)
            case "silence":
                if said := self._silences.sentence(message):
                    self._voice.say(said)
            case "notice":
                said = f"{agent.label}: {message.get('message')}"
                (self._voice.warn if message.get("warning") else self._voice.narrate)(said)
            case "fault":
                code = _integer(message.get("code"), 1)
                said = str(message.get("message") or "the agent reports a fault without a reason")
                self._end((code & 0xFF) or 1, said, _FAULT)
            case "error":
                said = str(message.get("message") or "the agent gave no reason")
                remedy = message.get("remedy")
                self._end(1, f"{agent.label}: {said}" + (f"\n  {remedy}" if remedy else ""), _FAULT)
            case op if op not in _ANSWERS:  # a late one is to what was dropped
                self._end(1, f"{agent.label}: the agent said '{op}', unasked", _FAULT)

    async def _show(self, member: Member, fd: int, data: bytes) -> None:
        """What ranks print, without what the launchers and this launcher itself say better."""
        assert self._output
        if len(self._plan.clusters) > 1:  # else a native job, of which nobody knows more
            data = member.chatter.sift(fd, data)
        if fd == 2:
            data = self._last_words.sift(data, self._outcome.sentence if self._outcome else "")
        await self._output.put(id(member.agent), fd, data)

    async def _tell_chatter(self, member: Member, message: Message) -> None:
        """The native launcher's own words: where its ranks never joined nobody knows better."""
        assert self._output
        for fd, data in member.chatter.rest():
            await self._output.put(id(member.agent), fd, data)
        if self._voice.verbose or not (member.joined or message.get("joined")):
            name = self._plan.clusters[member.plan.cluster].name
            lines = [f"cluster {name}: ".encode() + line for line in member.chatter.kept]
            await self._output.put(id(member.agent), 2, b"".join(lines))

    def _exited(self, member: Member, message: Message) -> None:
        member.exited = message
        member.joined = member.joined or bool(message.get("joined"))
        label = member.agent.label
        number = message.get("signal")
        status = _integer(message.get("status"), 1)
        if number is not None:
            status = 128 + _integer(number, 0)
        elif status:
            number = member.chatter.signal
        self._voice.narrate(f"{label}: ended with status {status}")
        before = self._outcome
        if before and before.weight == _FAULT and before.status == 1 and not self._killing:
            # What broke was a rank, and here is how it ended.
            cluster = self._plan.clusters[member.plan.cluster].name
            sentence = of_the_rank(before.sentence, cluster, status, number)
            self._outcome = Outcome(status & 0xFF or 1, sentence, _FAULT)
        elif status:
            said = f"{label}: the program {how_ended(status, number)}"
            self._end(status & 0xFF or 1, said, _EXIT)
        elif message.get("joined") and not message.get("finalized"):
            what = "a rank ended without MPI_Finalize"
            self._end(1, f"{label}: {what}, while the others may wait for it", _EXIT)
        self._check_waiting()
        self._changed.set()

    def _check_waiting(self) -> None:
        """A cluster that ends well without MPI_Init leaves those who joined waiting for ever."""
        gone = [m for m in self._ranked if m.exited and not m.joined]
        waiting = [m for m in self._ranked if m.joined and not m.exited]
        if gone and waiting:
            self._end(
                1,
                f"{gone[0].agent.label}: the program ended without MPI_Init, while "
                f"{waiting[0].agent.label} has called it and waits\n"
                "  Is it an MPI program, and linked to MPI dynamically?",
                _EXIT,
            )

    def _check_joined(self) -> None:
        """Ranks that never joined ran as so many worlds of their own: seldom what was meant."""
        if not self._plan.alone and not any(member.joined for member in self._ranked):
            self._end(
                1,
                "the program ended without MPI_Init in every cluster\n"
                "  Is it an MPI program, and linked to MPI dynamically?",
                _EXIT,
            )

    def _agent_lost(self, agent: Agent, sentence: str) -> None:
        member = self._by_agent[id(agent)]
        member.lost = True
        if self._is_spare(member):
            self._voice.warn(f"{sentence}; the other gateways of the cluster go on")
        elif member.spawned or not agent.told:  # else the step of the bring-up fails
            self._end(1, sentence, _FAULT)
        self._changed.set()

    def _is_spare(self, member: Member) -> bool:
        """Only gateways are lost with it, and others of the cluster are left. If some rank needed
        it all the same, its own agent says so."""
        if member.plan.has_ranks or not all(other.spawned for other in self._ranked):
            return False
        return any(
            other.plan.cluster == member.plan.cluster and other.plan.gateways and not other.lost
            for other in self._members
        )

    # -- the end -----------------------------------------------------------------------------

    def _end(self, status: int, sentence: str, weight: int) -> None:
        if self._killing and weight != _USER:
            return  # we did it ourselves
        if self._outcome is None or weight > self._outcome.weight:
            self._outcome = Outcome(status, sentence, weight)
        self._ending.set()

    def _interrupt(self, number: signal.Signals) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            self._hurry.set()
        self._end(128 + number, f"{number.name}: ended everything", _USER)

    def _forward(self, number: signal.Signals) -> None:
        for member in self._ranked:
            self._later(member.agent.send("signal", signal=int(number)))

    def _suspend(self) -> None:
        """Ctrl-Z."""
        if not self._suspending:
            self._suspending = True
            self._later(self._stop_and_go_on())

    async def _stop_and_go_on(self) -> None:
        """Stops all ranks, then this process as Ctrl-Z does; when it goes on, so do they."""

        async def paused() -> None:
            while not all(m.paused or m.exited or m.lost for m in running):
                self._changed.clear()
                await self._changed.wait()

        running = [m for m in self._ranked if m.spawned and not m.exited and not m.lost]
        for member in running:
            member.paused = False
            self._later(member.agent.send("pause"))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(paused(), _PAUSE_LIMIT)
        loop = asyncio.get_running_loop()
        loop.remove_signal_handler(signal.SIGTSTP)
        signal.raise_signal(
            signal.SIGTSTP
        )  # returns at SIGCONT; at once where nobody could send it
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        for member in running:
            self._later(member.agent.send("resume"))
        self._suspending = False

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _out_of_time(self) -> None:
        limit = self._options.timeout
        self._end(EXIT_TIMEOUT, f"the time limit of {limit:g} s has passed", _USER)

    def _stdout_gone(self) -> None:
        self._end(128 + signal.SIGPIPE, "", _USER)

    async def _until_exited(self) -> None:
        while not all(member.exited for member in self._ranked):
            self._changed.clear()
            await self._changed.wait()

    async def _end_ranks(self) -> None:
        """Ends all ranks and waits, within bounds, for what is still to be heard of them."""
        limits = self._options.limits
        if self._outcome and self._outcome.weight != _USER:
            # What ended one part ends the others as well; killing in the middle of that makes
            # native launchers stumble, and hides the reason. Where no cluster has joined, hardly
            # a rank has heard of it.
            heard_of = any(member.joined for member in self._ranked)
            await self._gone(limits.grace if heard_of else min(limits.grace, _UNJOINED_GRACE))
        self._killing = True
        running = [m for m in self._ranked if m.spawned and not m.exited and not m.lost]
        heard = await asyncio.gather(*(member.agent.order("kill") for member in running))
        for member, well in zip(running, heard, strict=True):
            member.lost = member.lost or not well
        await self._gone(limits.kill)

    async def _gone(self, limit: float) -> None:
        """Waits for the end of all that was spawned, at most `limit` seconds."""

        async def gone() -> None:
            while not all(m.exited or m.lost for m in self._ranked if m.spawned):
                self._changed.clear()
                await self._changed.wait()

        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(gone(), limit)

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


def _integer(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def run_job(
    plan: Plan, commands: Sequence[Sequence[str]], options: Options, voice: Voice
) -> Result:
    """Runs to the end in a loop of its own."""

    async def main() -> Result:
        return await Job(plan, commands, options, voice).run()

    return asyncio.run(main())
