"""Starting further native jobs while the program runs: MPI_Comm_spawn.

Each job has an agent of its own, which uses the gateways of its cluster. Every gateway learns that
the world grows before the job starts."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from isthmus.base.endings import how_ended
from isthmus.base.errors import IsthmusError, RunError
from isthmus.base.limits import Limits
from isthmus.base.relay import Voice
from isthmus.place.placement import Part
from isthmus.place.plan import AgentPlan
from isthmus.place.staging import StagedFile
from isthmus.run.agent import Agent, Message
from isthmus.run.bringup import BringUp
from isthmus.run.extending import Extending
from isthmus.run.growing import Growing
from isthmus.run.members import Member, Members, command_of
from isthmus.run.spawnplan import Command, Growth, grow, read_commands, sites_of
from isthmus.run.troubles import check_wire

Heard = Callable[[Agent, Message, bytes], Awaitable[None]]


@dataclass
class _Start:
    """A native job that is being started. `news` is done once its ranks have joined, or cannot."""

    growth: Growth
    member: Member
    news: asyncio.Future[str | None]
    parts: list[tuple[int, Part]] = field(default_factory=list)


class Spawning:
    """Starts one growth at a time."""

    def __init__(
        self,
        growing: Growing,
        extending: Extending,
        members: Members,
        steps: BringUp,
        limits: Limits,
        cwd: str,
        voice: Voice,
        stage: Sequence[StagedFile] = (),
    ) -> None:
        """`steps` brought the run up; `cwd` is the folder of the launcher. Clusters that come
        later get the files of `stage`."""
        self._voice = voice
        self._growing = growing
        self._extending = extending
        self._stage = stage
        self._members = members
        self._steps = steps
        self._limits = limits
        self._cwd = cwd
        self._starting: dict[int, _Start] = {}  # by id of the member

    async def commands(self, rank: int, entries: object) -> list[Command]:
        """The commands that a rank wants to spawn, once all clusters for them are there. Others may
        spawn meanwhile. IsthmusError if they are malformed, or if a cluster does not come."""
        commands = read_commands(entries)
        home = self._extending.home(rank)
        limit = min((c.timeout for c in commands if c.timeout is not None), default=None)
        for site in sites_of(self._extending.sites(), commands, home):
            await self._extending.until_here(site, limit)
        return commands

    async def spawn(
        self,
        rank: int,
        commands: Sequence[Command],
        port: str,
        placed: Callable[[Sequence[range]], None],
        heard: Heard,
        lost: Callable[[Agent, str], None],
    ) -> None:
        """Returns when all processes have joined. IsthmusError if they cannot be started. `placed`
        gets their nodes before they start."""
        async with self._growing.turn:
            planned = grow(
                self._extending.sites(),
                commands,
                home=self._extending.home(rank),
                index=self._growing.index,
                first=self._growing.size,
                part=self._growing.parts,
                named=len(self._growing.growths) + 1,
            )
            places = {
                site: await self._extending.place_of(site, heard, lost)
                for site in dict.fromkeys(growth.like for growth in planned)
            }
            growths = [self._growing.place(growth, places[growth.like]) for growth in planned]
            blocks = [growth.cluster.block for growth in growths]
            placed([range(block.first, block.first + block.size) for block in blocks])
            starts = [self._start(growth) for growth in growths]
            self._starting.update({id(start.member): start for start in starts})
            try:
                await self._bring_up(starts, commands, port, heard, lost)
                await self._until_joined(starts)
                self._tell_news(starts)
            except BaseException:
                await self._drop(starts)
                raise
            finally:
                for start in starts:
                    self._starting.pop(id(start.member), None)

    def joined(self, member: Member) -> None:
        if start := self._starting.get(id(member)):
            _tell(start, None)

    def failed(self, member: Member, why: str) -> bool:
        """A member has ended, or is lost. Returns False if it is not being started. One that has
        joined is not, even if others of the same spawn are."""
        start = self._starting.get(id(member))
        if not start or (start.news.done() and start.news.result() is None):
            return False
        _tell(start, why)
        return True

    def suspected(self, message: Message) -> bool:
        """As `failed`, for a gateway's suspicion of a cluster (docs/control.md, `suspect`)."""
        why = str(message.get("message") or "a gateway gave no reason")
        index = message.get("cluster")
        member = next((s.member for s in self._starting.values() if s.growth.index == index), None)
        return member is not None and self.failed(member, why)

    def exited(self, member: Member, status: int, number: int | None) -> bool:
        """As `failed`, for the end of a native launcher."""
        how = how_ended(status, number) if status else "ended"
        return self.failed(member, f"the program {how} without having called MPI_Init")

    # -- one after the other -----------------------------------------------------------------

    def _start(self, growth: Growth) -> _Start:
        spec = growth.cluster.spec
        joins = bool(growth.gateways) and self._growing.plan.joining
        host = None if joins else spec.host
        plan = AgentPlan(growth.like, host, spec.prefix, has_ranks=True, joins=joins)
        command = command_of(self._growing.plan, plan, self._cwd, shield=True)
        member = self._members.add(plan, growth.cluster, command)
        return _Start(growth, member, asyncio.get_running_loop().create_future())

    async def _bring_up(
        self,
        starts: Sequence[_Start],
        commands: Sequence[Command],
        port: str,
        heard: Heard,
        lost: Callable[[Agent, str], None],
    ) -> None:
        async def prepare(start: _Start) -> None:
            agent = start.member.agent
            await agent.start(heard, lost)
            hello = await agent.hello(self._limits.start)
            agent.host = str(hello.get("host") or "")
            agent.memory = str(hello.get("memory") or "")
            check_wire(agent.label, hello)
            self._steps.learn_machine(start.growth.like, agent, hello)
            configuration = self._steps.configuration(start.member.plan)
            configuration |= {
                "cluster": start.growth.cluster.name,
                "wdir": start.growth.cluster.block.wdir,
                "gateways": [],
            }
            await agent.request("configure", "configured", self._limits.configure, **configuration)
            if start.growth.gateways:
                await self._steps.stage_at(agent, self._stage)
            for n, part in start.growth.cluster.block.parts:
                argv = await self._find(agent, part, commands[part.number].paths)
                start.parts.append((n, replace(part, argv=argv)))

        await asyncio.gather(*map(prepare, starts))
        await self._growing.grow(start.growth for start in starts)
        size = sum(start.growth.cluster.block.size for start in starts)
        for start in starts:
            agent = start.member.agent
            world = self._growing.world(start.member.plan)
            await agent.request(
                "link", "linked", self._limits.link, world=world, links=[], routes=[]
            )
            block = start.growth.cluster.block
            start.member.spawned = True
            await agent.request(
                "spawn",
                "spawned",
                self._limits.spawn,
                parts=[
                    {
                        "n": n,
                        "argv": part.argv,
                        "env": {**part.env, "ISTHMUS_PARENT": port},
                        "appnum": part.number,
                    }
                    for n, part in start.parts
                ],
                first=block.first,
                base=starts[0].growth.cluster.block.first,
                world_size=size,
                size=block.size,
                stdin=False,
                tag_output=False,
            )

    async def _find(self, agent: Agent, part: Part, paths: Sequence[str]) -> list[str]:
        """The command with the first of `paths` that has its program; else the command as it is."""
        program, *arguments = part.argv
        for path in paths if "/" not in program else ():
            argv = [f"{path.rstrip('/')}/{program}", *arguments]
            with contextlib.suppress(RunError):
                await agent.request(
                    "inspect", "program", self._limits.inspect, argv=argv, ask_version=False
                )
                return argv
        await agent.request(
            "inspect", "program", self._limits.inspect, argv=part.argv, ask_version=False
        )
        return part.argv

    async def _until_joined(self, starts: Sequence[_Start]) -> None:
        """RunError as soon as one of them reports trouble."""
        for done in asyncio.as_completed([_news(start) for start in starts]):
            start, why = await done
            if why:
                raise RunError(f"{start.member.agent.label}: {why}")

    def _tell_news(self, starts: Sequence[_Start]) -> None:
        """To the user, of clusters that have come by this spawn."""
        for start in starts:
            came = self._growing.extensions.at(start.growth.like)
            if came and not came.told:
                came.told = True
                size = start.growth.cluster.block.size
                processes = f"{size} processes run" if size > 1 else "1 process runs"
                self._voice.say(
                    f'cluster "{came.cluster.name}" {"is back" if came.again else "has come"}: '
                    f'{processes} there as cluster "{start.growth.cluster.name}"'
                )

    async def _drop(self, starts: Sequence[_Start]) -> None:
        """Ends whatever was started of them; nobody waits for it any more. Agents may suspect it,
        and must not keep that for a failure of the run."""
        for start in starts:
            self._members.drop(start.member)
        told = {growth.index for growth in self._growing.growths}
        for start in starts if self._growing.plan.survival else ():
            index = start.growth.index
            said = f'cluster "{start.growth.cluster.name}" could not be started'
            for other in self._growing.with_gateways() if index in told else ():
                self._members.later(other.agent.send("failed", cluster=index, message=said))
        with contextlib.suppress(IsthmusError):
            await asyncio.gather(*(s.member.agent.close(self._limits.close) for s in starts))


async def _news(start: _Start) -> tuple[_Start, str | None]:
    return start, await start.news


def _tell(start: _Start, why: str | None) -> None:
    if not start.news.done():
        start.news.set_result(why)
