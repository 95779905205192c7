"""A launcher that has lost all clusters on other hosts ends for them, if they may go on without
those on its own host (place/beside.py, decision 56)."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence

from isthmus.base.limits import Limits
from isthmus.base.outcome import Ending, Weight
from isthmus.pages import page
from isthmus.place.plan import Plan
from isthmus.run.failing import Failing
from isthmus.run.launcherhost import is_here
from isthmus.run.leaving import Leaving
from isthmus.run.members import Member, Members

_GRACE = 5.0  # seconds for native launchers to end by themselves, as in leaving.py


def look_there() -> str:
    """The remedy where ranks may go on without this launcher."""
    return (
        "Before you run it again, look for isthmus-*.err in the working directory of the ranks "
        f"there ({page('surviving.md')})."
    )


def is_dead(member: Member) -> bool:
    """Its agent has reported the end of the ranks, without MPI_Finalize. Gateways of ranks that
    have ended well may go on without this launcher. An agent without gateways does not know how
    ranks have ended."""
    exited = member.exited
    return exited is not None and not exited.get("finalized") and bool(member.plan.gateways)


def _sentence(names: Sequence[str], cause: str) -> str:
    listed = " and ".join(f'cluster "{name}"' for name in names)
    return (
        f"this launcher has lost {listed}, and does not know whether their ranks have ended: "
        f"{cause.partition(chr(10))[0]}. They have more than half of the ranks, and may go on "
        f"without the clusters on this host, so these end\n  {look_there()}"
    )


class Yielding:
    """For one run. Needs a running loop."""

    def __init__(
        self,
        plan: Plan,
        members: Members,
        ending: Ending,
        failing: Failing,
        leaving: Leaving,
        limits: Limits,
        index: Callable[[Member], int | None],
    ) -> None:
        """`index` gives a member's cluster of the world."""
        self._plan = plan
        self._members = members
        self._ending = ending
        self._failing = failing
        self._leaving = leaving
        self._limits = limits
        self._index = index
        self.dead: set[int] = set()
        """Clusters whose ranks are known to have ended."""

    def stronger(self, lost: Collection[int]) -> list[int]:
        """The clusters to which this launcher gives way if these are lost, too; mostly none. An
        agent that knows a larger world never agrees to give others up."""
        beside = self._plan.beside
        if not beside:
            return []
        members = [(member, self._index(member)) for member in self._members.ranked]
        self.dead |= {i for member, i in members if i is not None and is_dead(member)}
        grown = {i for member, i in members if i is not None and member.grown}
        ranks = [cluster.block.size for cluster in self._plan.clusters]
        return sorted(beside.stronger(ranks, self._failing.failed | {*lost}, self.dead | grown))

    async def end_reachable(self, lost: Collection[int]) -> None:
        """Ends the ranks of those that still hear this launcher: perhaps only gateways do not reach
        each other. Then their ranks are known to have ended."""
        to = {*self.stronger(lost)}
        heard = [
            member for member in self._members.ranked
            if self._index(member) in to and not (member.lost or member.exited)
        ]  # fmt: skip
        ordered = [member for member in heard if not member.failed]
        for member in ordered:
            member.failed = True
        await asyncio.gather(*(member.agent.order("kill", grace=_GRACE) for member in ordered))
        with contextlib.suppress(asyncio.TimeoutError):
            gone = self._members.until(lambda: all(m.exited or m.lost for m in heard))
            await asyncio.wait_for(gone, _GRACE + self._limits.kill)

    def gives_way(self, lost: Collection[int], cause: str) -> bool:
        """If it does, the run ends here."""
        stronger = self.stronger(lost)
        if not stronger:
            return False
        elsewhere = [
            member for member in self._members
            if not (self._is_over(member) or is_here(member.plan, member.agent))
        ]  # fmt: skip
        for member in elsewhere:
            if not member.lost:  # the others may need its gateways, such as a relay
                member.lost = True
                member.agent.let_go()
        jobs = {self._plan.places[one.plan.cluster].name for one in elsewhere if one.plan.joins}
        self._leaving.let_go(jobs)
        names = [self._plan.clusters[one].name for one in stronger]
        self._ending.end(1, _sentence(names, cause), Weight.FAULT)
        self._members.changed()
        return True

    def _is_over(self, member: Member) -> bool:
        return member.plan.has_ranks and self._index(member) in self.dead
