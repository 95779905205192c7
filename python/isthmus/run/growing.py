"""The world as it grows while a run goes on: by spawned processes, and by guests of other runs. One
growth follows the other, since each continues the world that the last one left."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial

from isthmus.base.errors import IsthmusError, RunError
from isthmus.base.limits import Limits
from isthmus.place.extension import Extensions, ways_to
from isthmus.place.plan import AgentPlan, Plan
from isthmus.run.agent import Agent, Message
from isthmus.run.bringup import BringUp
from isthmus.run.members import Member, Members
from isthmus.run.spawnplan import Growth


class Growing:
    """A caller that grows the world, or asks agents something meanwhile, holds the `turn`."""

    def __init__(
        self,
        plan: Plan,
        members: Members,
        steps: BringUp,
        limits: Limits,
        extensions: Extensions | None = None,
    ) -> None:
        """`steps` are those that brought the run up."""
        self.plan = plan
        self.extensions = extensions or Extensions()
        self.turn = asyncio.Lock()
        self.growths: list[Growth] = []
        self.news: list[Message] = []
        """The spare clusters that have joined or left, as agents hear of them."""
        self.parts = 1
        self._members = members
        self._steps = steps
        self._limits = limits

    @property
    def index(self) -> int:
        """The index of the next cluster."""
        return len(self.plan.clusters) + len(self.growths)

    @property
    def size(self) -> int:
        """The number of nodes so far: the first node of the next cluster."""
        return self.plan.size + sum(growth.cluster.block.size for growth in self.growths)

    @property
    def living(self) -> list[int]:
        """The nodes of the gateways that run."""
        return [g.node for member in self.with_gateways() for g in member.plan.gateways]

    @property
    def served(self) -> list[list[int]]:
        """For each cluster of the world, its gateways, or those that lead to it."""
        own = [
            [g.node for g in self.plan.gateways if index in g.clusters]
            for index in range(len(self.plan.clusters))
        ]
        return own + [[*growth.gateways] or own[growth.like] for growth in self.growths]

    def place(self, growth: Growth, place: int) -> Growth:
        """The same growth at this place of the plan."""
        extension = self.extensions.at(place)
        if extension is None:
            return replace(growth, like=place)
        ways = ways_to(self.plan, extension.nodes, self.living)
        return replace(
            growth,
            like=place,
            gateways=tuple(extension.nodes),
            next={node: table.next[0] for node, table in ways.items() if 0 in table.next},
            hops={node: table.hops[0] for node, table in ways.items() if 0 in table.hops},
        )

    def home(self, rank: int) -> int:
        """The cluster of a rank, whether it began with the run or was spawned: an index of
        Plan.places."""
        clusters = [*enumerate(self.plan.clusters)]
        clusters += [(growth.like, growth.cluster) for growth in self.growths if not growth.run]
        for index, cluster in clusters:
            block = cluster.block
            if block.first <= rank < block.first + block.size:
                return index
        raise RunError(f"rank {rank} does not belong to this run")

    def first_home(self, rank: int) -> int:
        """As `home`. RunError if the cluster came while the world was running."""
        home = self.home(rank)
        if home >= len(self.plan.clusters):
            raise RunError(
                f"cluster {self.plan.places[home].name} came while the program was running; its "
                "processes cannot meet other runs"
            )
        return home

    async def grow(self, growths: Iterable[Growth]) -> None:
        """Grows by the clusters of one part. All gateways know them when this returns."""
        for growth in growths:
            self.growths.append(growth)
            self.plan.grown.append(growth.cluster)
            if extension := self.extensions.at(growth.like):
                extension.growths.append(growth.index)
            await tell_all(self.with_gateways(), partial(self._tell_member, growth=growth))
        self.parts += 1

    def spread(self, cluster: str, state: str, message: str) -> None:
        """A spare cluster has joined or left: all gateways tell their processes."""
        told = {"number": len(self.news), "cluster": cluster, "state": state, "message": message}
        self.news.append(told)
        for member in self.with_gateways():
            self._members.later(member.agent.send("spare", **told))

    def with_gateways(self) -> list[Member]:
        return [m for m in self._members if m.plan.gateways and not (m.lost or m.leaving)]

    async def again(self, member: Member, agent: Agent) -> None:
        """Brings up a new agent in a member's place, and tells it how the world has grown. The
        caller holds the turn."""
        await self._steps.again(member.plan, agent)
        for extension in self.extensions:
            names = [{"node": node, "name": extension.cluster.name} for node in extension.nodes]
            await agent.request("extend", "extended", self._limits.configure, gateways=names)
        for growth in self.growths:
            await self._tell(member.plan, agent, growth)

    def world(self, seen_by: AgentPlan) -> Message:
        """The world as the ranks of a new agent see it, with everything it has grown by."""
        world: Message = self._steps.world(seen_by)
        for growth in self.growths:
            world["clusters"].append(self._json(growth))
            for gateway in world["gateways"]:
                if growth.gateways:
                    if gateway["node"] in growth.gateways:
                        gateway["clusters"].append(growth.index)
                    gateway["hops"].append(growth.hops.get(gateway["node"], 0))
                    continue
                if growth.like in gateway["clusters"] and not growth.run:
                    gateway["clusters"].append(growth.index)
                gateway["hops"].append(gateway["hops"][growth.like] + (1 if growth.run else 0))
        return world

    def own(self) -> list[dict[str, object]]:
        """The clusters of this run, described for another run."""
        told = []
        homes = [*enumerate(self.plan.clusters)]
        homes += [(growth.like, growth.cluster) for growth in self.growths if not growth.run]
        for like, cluster in homes:
            machine = self._steps.machine(like)
            told.append(
                {
                    "name": cluster.name,
                    "first": cluster.block.first,
                    "size": cluster.block.size,
                    "arch": machine.get("arch") or "",
                    "byteorder": machine.get("byteorder") or "",
                    "long_double": machine.get("long_double") or "",
                }
            )
        return told

    async def _tell_member(self, member: Member, growth: Growth) -> None:
        await self._tell(member.plan, member.agent, growth)
        member.grown = True

    async def _tell(self, spec: AgentPlan, agent: Agent, growth: Growth) -> None:
        routes = [
            {"node": g.node, "next": growth.next[g.node]}
            for g in spec.gateways
            if g.node in growth.next
        ]
        growth_of = self._json(growth)
        limit = self._limits.configure
        await agent.request("grow", "grown", limit, growth=growth_of, routes=routes)

    def _json(self, growth: Growth) -> dict[str, object]:
        return growth.json(self._steps.machine(growth.like))


async def tell_all(members: Iterable[Member], tell: Callable[[Member], Awaitable[object]]) -> None:
    """Tells one after the other, and raises the first error. Members that are lost meanwhile need
    not know."""
    trouble: IsthmusError | None = None
    for member in members:
        try:
            await tell(member)
        except IsthmusError as error:
            if not (member.lost or member.leaving):
                trouble = trouble or error
    if trouble:
        raise trouble
