"""Goes on without clusters that have failed, and tells all agents. Failing decides which fail, and
Yielding whether this launcher ends for them. Leaving ends the processes that are left of them."""

import asyncio
from collections.abc import Callable, Container, Sequence

from isthmus.base.limits import Limits
from isthmus.base.outcome import Ending, Weight
from isthmus.base.relay import Voice
from isthmus.place.extension import Extension, Extensions
from isthmus.place.plan import GatewayPlan, Plan
from isthmus.run.agent import Message
from isthmus.run.failing import Failing, Watcher
from isthmus.run.latecomers import are_ready
from isthmus.run.leaving import Leaving
from isthmus.run.members import Member, Members
from isthmus.run.yielding import Yielding

# Seconds from a suspicion to the decision: the other side of a link notices a little later.
_HEARING = 2.0


class Surviving:
    """For one run. Needs a running loop."""

    def __init__(
        self,
        plan: Plan,
        members: Members,
        ending: Ending,
        leaving: Leaving,
        voice: Voice,
        extensions: Extensions,
        limits: Limits,
        lost: Callable[[Container[int]], None],
    ) -> None:
        """`lost` gets the nodes of the ranks of each cluster that has failed."""
        self._plan = plan
        self._extensions = extensions
        self.failures: list[tuple[int, str]] = []
        """The clusters of the world that have failed, and why."""
        self._members = members
        self._ending = ending
        self._leaving = leaving
        self._voice = voice
        self._lost = lost
        self._failing = Failing(
            plan.survival,
            [(cluster.name, cluster.block.size) for cluster in plan.clusters],
            {
                gateway.node: Watcher(gateway.clusters, plan.tables[gateway.node].next)
                for gateway in plan.gateways
            },
        )
        self._yielding = Yielding(
            plan, members, ending, self._failing, leaving, limits, self._index
        )
        self._grown: set[int] = set()  # spawned clusters that have failed
        self._judging = False
        self._asking = 0  # decisions that wait for the agents' answers

    @property
    def undecided(self) -> bool:
        """Whether a member has failed, and the run may end for it."""
        return self._asking > 0

    def takes(self, member: Member, cause: str, otherwise: Callable[[], None]) -> bool:
        """A member has failed. True: the run goes on without its cluster, and without those that
        have lost their last gateway with it. Or this launcher gives way to them, and has ended the
        run. Or this is not known yet, and `otherwise` is called if the run ends."""
        if self._ending.begun.is_set() or not self._plan.survival:
            return False
        home, index = member.plan.cluster, self._index(member)
        extension = self._extensions.at(home)
        if extension and index is None:
            return self._lose_extension(extension, cause)
        if index is None:
            return False
        if index >= len(self._plan.clusters):
            return self._lose_spawned(member, index, cause)
        lost = {home}
        if member.lost:
            self._lose_gateways(member.plan.gateways)
            lost |= {
                cluster for gateway in member.plan.gateways for cluster in gateway.clusters
                if not self._is_served(cluster)
            }  # fmt: skip
        failing = sorted(lost - self._failing.failed)
        if not self._all_joined() or self._yielding.stronger(failing):
            self._asking += 1
            self._members.later(self._ask(failing, cause, otherwise))
            return True
        return self._lose(failing, cause, joined=True)

    def suspect(self, message: Message) -> None:
        """A gateway suspects a cluster (docs/control.md, `suspect`)."""
        node, cluster = message.get("gateway"), message.get("cluster")
        gateway = next((one for one in self._plan.gateways if one.node == node), None)
        if not gateway or type(cluster) is not int or self._ending.begun.is_set():
            return
        why = str(message.get("message") or "a gateway gave no reason")
        suspect = self._home(cluster)
        if suspect is None:
            return
        if suspect in gateway.clusters:
            beside = self._plan.beside
            if not beside or gateway.node not in beside.gateways:
                # A process there has vanished, so its gateway never agrees.
                self._yielding.dead.add(cluster)
            self._fail(cluster, why)
            return
        if later := self._extensions.at(suspect) or self._extensions.at(gateway.clusters[0]):
            self._members.later(self._judge_extension(later, suspect, why))
            return
        self._voice.narrate(f"the gateway {self._plan.gateway_name(gateway.node)} reports: {why}")
        self._failing.suspect(gateway.node, suspect, why)
        if not self._judging:
            self._judging = True
            self._members.later(self._judge())

    def lose_spare(self, member: Member) -> None:
        """Its gateways are lost for good, and others serve its clusters. Agents that lose this
        launcher must not wait for them."""
        if not self._plan.survival:
            return
        self._lose_gateways(member.plan.gateways)
        nodes = [gateway.node for gateway in member.plan.gateways]
        self._tell_all("lost", gateways=nodes)

    def has_failed(self, cluster: int) -> bool:
        return cluster in self._failing.failed

    # -- decisions ---------------------------------------------------------------------------

    async def _ask(self, lost: Sequence[int], cause: str, otherwise: Callable[[], None]) -> None:
        """Agents do not wait for each other. So the launcher may hear that a cluster has failed
        right after MPI_Init before another has reported that all its ranks have joined."""
        try:
            joined = self._all_joined() or await are_ready(self._members)
            if joined and not self._ending.begun.is_set():
                await self._yielding.end_reachable(lost)
            left = [one for one in lost if one not in self._failing.failed]
            if (
                left
                and not self._ending.begun.is_set()
                and not self._lose(left, cause, joined=joined)
            ):
                otherwise()
        finally:
            self._asking -= 1
            self._members.changed()

    def _all_joined(self) -> bool:
        return all(
            member.joined
            for member in self._members.ranked
            if (self._index(member) or 0) < len(self._plan.clusters)
        )

    async def _judge(self) -> None:
        while True:
            await asyncio.sleep(_HEARING)
            suspects = [] if self._ending.begun.is_set() else self._failing.suspects()
            if not suspects:
                self._judging = False
                return
            for cluster, why in suspects:
                if not self._ending.begun.is_set():
                    self._fail(cluster, why)

    def _fail(self, cluster: int, cause: str) -> None:
        """This cluster has failed, or else the run ends."""
        if cluster in self._failing.failed or cluster in self._grown:
            return
        member = next(m for m in self._members.ranked if self._index(m) == cluster)

        def end() -> None:
            self._ending.end(1, cause, Weight.FAULT)
            self._members.changed()

        if not self.takes(member, cause, end):
            end()

    def _lose(self, lost: Sequence[int], cause: str, *, joined: bool) -> bool:
        if joined and self._yielding.gives_way(lost, cause):
            return True
        if not self._failing.lose(lost, joined=joined, more=self._later()):
            return False
        leaving = [member for member in self._members if member.plan.cluster in lost]
        self._mark(leaving)
        for cluster in lost:
            name = self._plan.clusters[cluster].name
            self._forget(cluster, name, cause, place=name)
            for member in self._members:
                index = self._index(member)
                if member.plan.cluster == cluster and index is not None and index != cluster:
                    self._grown.add(index)
                    why = f'its gateways are those of cluster "{name}"'
                    self._forget(index, member.cluster.name, why)
            self._lose_gateways(
                [one for one in self._plan.gateways if self._failing.failed >= {*one.clusters}]
            )
        for cluster in lost:
            own = [member for member in leaving if member.plan.cluster == cluster]
            over = all(member.leaving for member in own)
            self._leaving.end(self._plan.clusters[cluster].name, own, over=over)
        return True

    def _lose_spawned(self, member: Member, index: int, cause: str) -> bool:
        if not self._may_leave(member.plan.cluster):
            return False
        if index not in self._grown:
            self._grown.add(index)
            self._mark([member])
            place = self._plan.places[member.plan.cluster].name
            self._forget(index, member.cluster.name, cause, place=place)
            self._leaving.end(place, [member])
            extension = self._extensions.at(member.plan.cluster)
            if extension and self._grown >= {*extension.growths}:
                self._drop(extension)  # its gateways have no other cluster
        return True

    def _lose_extension(self, extension: Extension, cause: str) -> bool:
        """The gateways of a cluster that came later are lost, so all that was spawned there is."""
        if not self._may_leave(extension.place):
            return False
        own = [m for m in self._members.ranked if m.plan.cluster == extension.place]
        name = extension.cluster.name
        self._drop(extension)
        lost = [(m, i) for m in own if (i := self._index(m)) is not None and i not in self._grown]
        self._mark([member for member, _ in lost])
        for member, index in lost:
            self._grown.add(index)
            quiet = bool(member.exited)
            self._forget(index, member.cluster.name, cause, place=name, quiet=quiet)
        # Processes that had ended well have been dropped from the members.
        for index in {*extension.growths} - self._grown:
            self._grown.add(index)
            self._forget(index, self._plan.cluster_name(index), cause, quiet=True)
        self._leaving.end(name, [member for member, _ in lost])
        return True

    def _drop(self, extension: Extension) -> None:
        self._extensions.drop(extension)
        for node in extension.nodes:
            self._plan.tables.pop(node, None)
        gateways = [member for member in self._members if member.plan in extension.agents]
        for member in gateways:
            member.failed = member.leaving = True
        self._leaving.end(extension.cluster.name, gateways, over=True)

    async def _judge_extension(self, extension: Extension, suspect: int, why: str) -> None:
        """If clusters do not reach each other of which one came later, that one fails. Unless the
        other has failed meanwhile."""
        await asyncio.sleep(_HEARING)
        if self._ending.begun.is_set() or suspect in self._failing.failed:
            return
        if extension in [*self._extensions] and not self._lose_extension(extension, why):
            self._ending.end(1, why, Weight.FAULT)
            self._members.changed()

    def _may_leave(self, place: int) -> bool:
        survival = self._plan.survival
        return survival is not None and self._plan.places[place].name in survival.may_leave

    # -- what follows ------------------------------------------------------------------------

    def _forget(
        self, cluster: int, name: str, cause: str, *, place: str = "", quiet: bool = False
    ) -> None:
        """`place` is the cluster of the grid file that has failed with it, if any."""
        said = f'cluster "{name}" has failed: {cause.partition(chr(10))[0]}'
        self.failures.append((cluster, said))
        if not quiet:
            self._leaving.tell(name, cause, self._failing.left + self._later(), place)
        world = [*self._plan.clusters, *self._plan.grown]
        if cluster < len(world):
            block = world[cluster].block
            self._lost(range(block.first, block.first + block.size))
        self._tell_all("failed", cluster=cluster, message=said)

    def _tell_all(self, op: str, **keys: object) -> None:
        for member in self._members:
            if not member.lost and not member.leaving:
                self._members.later(member.agent.send(op, **keys))

    def _later(self) -> int:
        """The number of clusters that came later, and have processes."""
        running = {member.plan.cluster for member in self._members.running}
        return sum(extension.place in running for extension in self._extensions)

    def _mark(self, members: Sequence[Member]) -> None:
        """Agents stay if other clusters need their gateways."""
        for member in members:
            member.failed = True
            member.leaving = not self._serves_others(member)
        self._members.changed()

    def _serves_others(self, member: Member) -> bool:
        clusters = {one for gateway in member.plan.gateways for one in gateway.clusters}
        world = range(len(self._plan.clusters))
        left = {one for one in clusters if one in world and one not in self._failing.failed}
        return not member.lost and bool(left)

    def _lose_gateways(self, gateways: Sequence[GatewayPlan]) -> None:
        for gateway in gateways:
            self._failing.lose_gateway(gateway.node)

    def _is_served(self, cluster: int) -> bool:
        """Whether a gateway is left to a cluster; others only pass on."""
        return cluster >= len(self._plan.clusters) or any(
            cluster in gateway.clusters
            for member in self._members
            if not member.lost
            for gateway in member.plan.gateways
        )

    def _index(self, member: Member) -> int | None:
        """The index of its cluster in the world. None: it only forwards."""
        world = [*self._plan.clusters, *self._plan.grown]
        return next((i for i, one in enumerate(world) if one is member.cluster), None)

    def _home(self, cluster: int) -> int | None:
        """The cluster of the plan whose gateways those of a cluster of the world are."""
        if 0 <= cluster < len(self._plan.clusters):
            return cluster
        of = [m.plan.cluster for m in self._members.ranked if self._index(m) == cluster]
        return of[0] if of else None
