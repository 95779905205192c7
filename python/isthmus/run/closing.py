"""Ends what is left of a run, each cluster after its own grace (grace.py)."""

import asyncio
import contextlib

from isthmus.base.grace import Grace
from isthmus.base.outcome import Ending
from isthmus.run.members import Member, Members


class Closing:
    """For one run. Needs a running loop."""

    def __init__(self, members: Members, ending: Ending, grace: Grace, kill: float) -> None:
        """`kill`: seconds that agents have to end their ranks once told."""
        self._members = members
        self._ending = ending
        self._grace = grace
        self._kill = kill
        self._heard: float | None = None  # when ranks heard that the run is broken

    def heard(self) -> None:
        """Call this when gateways have told ranks of a fault or an MPI_Abort."""
        if self._heard is None:
            self._heard = asyncio.get_running_loop().time()
        self._members.changed()

    async def end_ranks(self) -> None:
        """Ends all ranks and waits, within bounds, for the last news of them."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while waiting := [member for member in self._members.running if not member.killing]:
            due = {id(member): began + self._of(member) for member in waiting}
            ready = [member for member in waiting if due[id(member)] <= clock()]
            if len(ready) == len(waiting):
                self._ending.killing = True
            if ready:
                await self._order(ready)
            else:
                await self._news(min(due.values()) - clock())
        self._ending.killing = True
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._members.until(self._all_gone), self._kill)

    def _of(self, member: Member) -> float:
        assert self._ending.outcome
        ranked = self._members.ranked
        gone = [other for other in ranked if other.exited and not other.failed]
        orderly = bool(gone) and all((m.exited or {}).get("finalized") for m in gone)
        return self._grace.of(
            self._ending.outcome,
            member.cluster.name,
            joined=any(other.joined for other in ranked),
            orderly=orderly,
            aborting=member.aborting,
        )

    async def _order(self, ready: list[Member]) -> None:
        assert self._ending.outcome
        heard = None
        if self._heard is not None:
            heard = asyncio.get_running_loop().time() - self._heard
        orders = []
        for member in ready:
            member.killing = True
            grace = self._grace.of_launcher(
                self._ending.outcome, member.cluster.name, heard, aborting=member.aborting
            )
            keys = {} if grace is None else {"grace": grace}
            orders.append(member.agent.order("kill", **keys))
        for member, well in zip(ready, await asyncio.gather(*orders), strict=True):
            member.lost = member.lost or not well

    async def _news(self, limit: float) -> None:
        """Waits until something has changed, at most `limit` seconds."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._members.news(), limit)

    def _all_gone(self) -> bool:
        return all(m.exited or m.lost or m.failed for m in self._members.ranked if m.spawned)
