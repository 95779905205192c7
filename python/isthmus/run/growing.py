"""The world as it grows while a run goes on: by spawned processes, and by guests of other runs. One
growth follows the other, since each continues the world that the last one left."""

import asyncio
from collections.abc import Iterable

from isthmus.base.errors import RunError
from isthmus.base.limits import Limits
from isthmus.place.plan import AgentPlan, Plan
from isthmus.run.agent import Agent, Message
from isthmus.run.bringup import BringUp
from isthmus.run.members import Member, Members
from isthmus.run.spawnplan import Growth


class Growing:
    """A caller that grows the world, or asks agents something meanwhile, holds the `turn`."""

    def __init__(self, plan: Plan, members: Members, steps: BringUp, limits: Limits) -> None:
        """`steps` are those that brought the run up."""
        self.plan = plan
        self.turn = asyncio.Lock()
        self.growths: list[Growth] = []
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

    def home(self, rank: int) -> int:
        """The cluster of a rank, whether it began with the run or was spawned."""
        clusters = [*enumerate(self.plan.clusters)]
        clusters += [(growth.like, growth.cluster) for growth in self.growths if not growth.run]
        for index, cluster in clusters:
            block = cluster.block
            if block.first <= rank < block.first + block.size:
                return index
        raise RunError(f"rank {rank} does not belong to this run")

    async def grow(self, growths: Iterable[Growth]) -> None:
        """Grows by the clusters of one part. All gateways know them when this returns."""
        for growth in growths:
            self.growths.append(growth)
            self.plan.grown.append(growth.cluster)
            for member in self._members:
                if member.plan.gateways and not member.lost:
                    await member.agent.request(
                        "grow", "grown", self._limits.configure, growth=self._json(growth)
                    )
        self.parts += 1

    async def again(self, member: Member, agent: Agent) -> None:
        """Brings up a new agent in a member's place, and tells it how the world has grown. The
        caller holds the turn."""
        await self._steps.again(member.plan, agent)
        for growth in self.growths:
            await agent.request("grow", "grown", self._limits.configure, growth=self._json(growth))

    def world(self, seen_by: AgentPlan) -> Message:
        """The world as the ranks of a new agent see it, with everything it has grown by."""
        world: Message = self._steps.world(seen_by)
        for growth in self.growths:
            world["clusters"].append(self._json(growth))
            for gateway in world["gateways"]:
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
                    "long_double": machine.get("long_double") or "",
                }
            )
        return told

    def _json(self, growth: Growth) -> dict[str, object]:
        return growth.json(self._steps.machine(growth.like))
