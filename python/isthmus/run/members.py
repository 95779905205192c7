"""The agents of a run, and what is known of their ranks."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from isthmus.base.relay import Voice
from isthmus.grid import sshlinks
from isthmus.place.plan import AgentPlan, ClusterPlan, Plan
from isthmus.run.agent import Agent, Message, Summon
from isthmus.run.chatter import Chatter
from isthmus.run.command import agent_command, shielded, users_ssh
from isthmus.run.troubles import LauncherWords

if TYPE_CHECKING:
    from isthmus.run.batch import Batch


@dataclass
class Member:
    """An agent of the run and what is known of its ranks."""

    plan: AgentPlan
    agent: Agent
    cluster: ClusterPlan  # its own, or the one whose gateways it has
    spawned: bool = False
    joined: bool = False
    counts: Mapping[str, object] | None = None  # ranks that have joined here, if known
    ready: bool = False  # a gateway here knows that all ranks of the run have joined
    paused: bool = False
    exited: Message | None = None
    lost: bool = False
    aborting: bool = False  # a rank of it has called MPI_Abort: its native launcher ends the others
    killing: bool = False  # its ranks are being ended by this launcher
    verdict: str = ""  # why a scheduler has ended its ranks, unless this launcher did
    dropped: bool = False  # no longer part of the run
    failed: bool = False  # its cluster has failed, and the run goes on
    leaving: bool = False  # so its agent is being ended, too
    grown: bool = False  # its agent knows a world that is not the first one
    chatter: Chatter = field(default_factory=Chatter)

    def __post_init__(self) -> None:
        self.launching = LauncherWords(self.cluster.spec.hosts)


def command_of(plan: Plan, spec: AgentPlan, cwd: str, *, shield: bool = True) -> list[str]:
    """The command that starts an agent of the plan; empty if it dials in. Signals of the terminal
    do not end its ssh if `shield`."""
    if spec.joins:
        return []
    role = "agent" if spec.has_ranks else "gateway"
    setup = plan.places[spec.cluster].spec.setup if spec.has_ranks else ()
    command = agent_command(spec.host, spec.prefix, cwd, role, setup, spec.door)
    return shielded(spec.host, command) if spec.host and shield else command


def log_of(voice: Voice) -> Callable[[str], None] | None:
    """The function that shows the logs of agents, if the user wants them."""
    return voice.say if os.environ.get("ISTHMUS_LOG") else None


def close_door(plan: Plan) -> None:
    """Ends the forwarding of ssh to the relay of a plan, if it has one."""
    if plan.door:
        sshlinks.close(plan.door, [a.host for a in plan.agents if a.door and a.host], users_ssh())


class Members:
    """All members, in the order of the plan. Code that changes a member calls `changed`."""

    def __init__(
        self,
        plan: Plan,
        commands: Sequence[Sequence[str]],
        show: Callable[[str], None] | None = None,
        batch: "Batch | None" = None,
    ) -> None:
        """`commands[i]` starts the agent `plan.agents[i]`, unless it comes from `batch`. `show`
        gets the agents' logs."""
        self._batch = batch
        self.plan = plan
        self.broken: Callable[[Exception], None] | None = None  # gets errors of background work
        self._show = show
        self._all: list[Member] = []
        self._by_agent: dict[int, Member] = {}
        for spec, command in zip(plan.agents, commands, strict=True):
            self.add(spec, plan.places[spec.cluster], command)
        self._news = asyncio.Event()
        self._background: set[asyncio.Task[None]] = set()

    async def launch(self) -> None:
        """Starts the processes of all agents at once. `Agent.start` reports errors."""
        await asyncio.gather(*(member.agent.launch() for member in self._all))

    def add(
        self,
        spec: AgentPlan,
        cluster: ClusterPlan,
        command: Sequence[str],
    ) -> Member:
        """Adds a member while the run goes on, even one that is not in the plan."""
        summon = None
        if self._batch and spec.joins:
            summon = partial(self._batch.agent, self.plan.places[spec.cluster].name)
        agent = _agent(self.plan.where(spec), command, spec.host, self._show, summon)
        member = Member(spec, agent, cluster)
        self._all.append(member)
        self._by_agent[id(agent)] = member
        return member

    def another(self, member: Member) -> Agent:
        """A new agent for a member that has lost its own, started in the same way."""
        lost = member.agent
        return _agent(lost.label, lost.command, lost.target, self._show, None)

    def replace(self, member: Member, agent: Agent) -> None:
        """Makes this agent the member's from now on."""
        del self._by_agent[id(member.agent)]
        member.agent, member.lost = agent, False
        self._by_agent[id(agent)] = member
        self.changed()

    def drop(self, member: Member) -> None:
        """Removes the member from the run; further messages of its agent are ignored."""
        member.dropped = True
        self._all.remove(member)
        self.changed()

    def __iter__(self) -> Iterator[Member]:
        return iter([*self._all])

    def of(self, agent: Agent) -> Member:
        return self._by_agent[id(agent)]

    @property
    def ranked(self) -> list[Member]:
        """Members with ranks; the first has world rank 0."""
        return [member for member in self._all if member.plan.has_ranks]

    @property
    def running(self) -> list[Member]:
        """Members whose ranks have started and not ended."""
        return [m for m in self.ranked if m.spawned and not (m.exited or m.lost or m.failed)]

    def changed(self) -> None:
        self._news.set()

    async def until(self, so: Callable[[], bool]) -> None:
        """Waits for news until `so()` holds."""
        while not so():
            await self.news()

    async def news(self) -> None:
        """Waits for the next change."""
        self._news.clear()
        await self._news.wait()

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs the work in the background."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            assert self.broken
            self.broken(error)


def _agent(
    label: str,
    command: Sequence[str],
    target: str | None,
    show: Callable[[str], None] | None,
    summon: Summon | None,
) -> Agent:
    def labelled(line: str) -> None:
        assert show
        show(f"{label}: {line}")

    return Agent(label, command, target=target, show=labelled if show else None, summon=summon)
