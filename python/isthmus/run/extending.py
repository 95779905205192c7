"""Takes clusters into the running world: those that were spare, and those that have failed. Their
gateways come first. Then processes are spawned there as in any other cluster."""

import asyncio
import contextlib
from collections.abc import Awaitable, Iterable, Sequence
from functools import partial

from isthmus.base.errors import IsthmusError
from isthmus.base.limits import Limits
from isthmus.place.extension import Extension, extend
from isthmus.place.plan import ClusterPlan
from isthmus.run.agent import Handler, OnLost
from isthmus.run.batch import Batch
from isthmus.run.bringup import BringUp
from isthmus.run.growing import Growing, tell_all
from isthmus.run.leaving import Leaving
from isthmus.run.members import Member, Members, command_of
from isthmus.run.surviving import Surviving


class Extending:
    """For one run. The caller of `place_of` holds the turn of `growing`."""

    def __init__(
        self,
        growing: Growing,
        members: Members,
        steps: BringUp,
        surviving: Surviving,
        leaving: Leaving,
        limits: Limits,
        cwd: str,
        batch: Batch | None = None,
    ) -> None:
        self._growing = growing
        self._members = members
        self._steps = steps
        self._surviving = surviving
        self._leaving = leaving
        self._batch = batch
        self._limits = limits
        self._cwd = cwd

    def sites(self) -> list[ClusterPlan]:
        """The clusters where processes can be spawned: those of the run, then the spare ones."""
        plan = self._growing.plan
        return [*plan.clusters, *plan.spares]

    def home(self, rank: int) -> int:
        """The cluster of a rank, as an index of `sites`."""
        name = self._growing.plan.places[self._growing.home(rank)].name
        return [site.name for site in self.sites()].index(name)

    async def until_here(self, site: int, limit: float | None) -> None:
        """Waits for the batch job of a spare cluster, `limit` seconds at most. The caller need not
        hold the turn. RunError if it does not come."""
        if self._batch is None or site < len(self._growing.plan.clusters):
            return
        cluster = self.sites()[site].name
        if not self._growing.extensions.named(cluster):
            await self._batch.until_here(cluster, limit)

    async def place_of(self, site: int, heard: Handler, lost: OnLost) -> int:
        """The index in Plan.places of a living cluster there. One that is spare, or has failed, is
        taken in first. RunError if that cannot be done."""
        plan = self._growing.plan
        cluster = self.sites()[site]
        if site < len(plan.clusters) and not self._surviving.has_failed(site):
            return site
        if found := self._growing.extensions.named(cluster.name):
            return found.place
        return (await self._take_in(cluster, heard, lost)).place

    def takes(self, member: Member) -> bool:
        """A member is lost. Returns whether it has gateways that no process uses yet: they are
        given up."""
        extension = self._growing.extensions.at(member.plan.cluster)
        if extension is None or extension.growths or not member.plan.gateways:
            return False
        self._members.later(self._give_up_later(extension))
        return True

    async def _take_in(self, cluster: ClusterPlan, heard: Handler, lost: OnLost) -> Extension:
        await self._leaving.ended(cluster.name)
        growing, plan = self._growing, self._growing.plan
        others = growing.with_gateways()
        made = extend(plan, cluster, growing.living, growing.served)
        new = [
            self._members.add(
                spec, plan.places[made.place], command_of(plan, spec, self._cwd, shield=True)
            )
            for spec in made.agents
        ]
        for member in new:
            self._steps.know(member.plan, member.agent)
        growing.extensions.add(made)
        try:
            for member in new:
                await member.agent.start(heard, lost)
                await self._steps.add(member.plan, member.agent)
            names = [{"node": node, "name": cluster.name} for node in made.nodes]
            await tell_all(others, partial(self._tell, gateways=names))
            await _all([*self._links(made, others), *self._links_of_new(new)])
            for member in new:
                for index, why in self._surviving.failures:
                    await member.agent.send("failed", cluster=index, message=why)
                for told in growing.news:
                    await member.agent.send("spare", **told)
        except BaseException:
            await self._give_up(made)
            raise
        return made

    def _links(self, made: Extension, others: Sequence[Member]) -> list[Awaitable[object]]:
        """The links that gateways open which were there before."""
        return [
            member.agent.request("extend", "extended", self._limits.link, gateways=[], links=links)
            for member in others
            if (links := self._steps.links_from(member.plan, made.links))
        ]

    def _links_of_new(self, new: Sequence[Member]) -> list[Awaitable[object]]:
        return [
            self._steps.link_added(member.plan, member.agent, self._growing.world(member.plan))
            for member in new
        ]

    async def _tell(self, member: Member, **keys: object) -> None:
        await member.agent.request("extend", "extended", self._limits.configure, **keys)

    async def _give_up_later(self, made: Extension) -> None:
        async with self._growing.turn:
            await self._give_up(made)

    async def _give_up(self, made: Extension) -> None:
        """The spawn has failed: the others forget the gateways."""
        if made not in [*self._growing.extensions]:
            return
        self._growing.extensions.drop(made)
        mine = [member for member in self._members if member.plan in made.agents]
        for member in mine:
            self._members.drop(member)
        for node in made.nodes:
            self._growing.plan.tables.pop(node, None)
        with contextlib.suppress(IsthmusError):
            tell = partial(self._tell, gateways=[], gone=made.nodes)
            await tell_all(self._growing.with_gateways(), tell)
        with contextlib.suppress(IsthmusError):
            await asyncio.gather(*(m.agent.close(self._limits.close) for m in mine))


async def _all(work: Iterable[Awaitable[object]]) -> None:
    """Waits for all, and raises the first error."""
    done = await asyncio.gather(*work, return_exceptions=True)
    for error in done:
        if isinstance(error, BaseException):
            raise error
