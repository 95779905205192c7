"""Ends what is left of clusters that have failed while the run goes on, and tells the user why they
have."""

import asyncio
import contextlib
from collections.abc import Collection, Coroutine, Sequence

from isthmus.base.limits import Limits
from isthmus.base.relay import Voice
from isthmus.run.batch import Batch
from isthmus.run.members import Member, Members

# Seconds for native launchers to end by themselves: Open MPI's mpirun crashes, with a long trace,
# if a signal comes while it ends a job whose rank has died.
_GRACE = 5.0


class Leaving:
    """For one run. Clusters are named as in the grid file."""

    def __init__(
        self, members: Members, limits: Limits, voice: Voice, batch: Batch | None = None
    ) -> None:
        self._members = members
        self._limits = limits
        self._voice = voice
        self._batch = batch
        self._telling: dict[str, set[asyncio.Task[None]]] = {}
        self._ending: dict[str, set[asyncio.Task[None]]] = {}
        self._why: dict[str, str] = {}

    def tell(self, name: str, cause: str, left: int, place: str) -> None:
        """A cluster of the world has failed, and `left` go on. In a submitted job the scheduler of
        `place` is asked first: mostly it has ended the ranks, and knows why."""
        if self._batch and place:
            asked = self._tell_with_reason(self._batch, name, cause, left, place)
            self._do(self._telling, place, asked)
        else:
            self._say(name, cause, left)

    def end(self, place: str, members: Sequence[Member], *, over: bool = False) -> None:
        """Ends the ranks of these members there, and the agents of those that leave. `over`: its
        batch job, too."""
        self._do(self._ending, place, self._end_all(place, members, over=over))

    def let_go(self, places: Collection[str]) -> None:
        """These may go on without this launcher, so their batch jobs are not ended any more."""
        if self._batch:
            self._batch.let_go(places)

    async def ended(self, place: str) -> None:
        """Returns when everything is gone that has failed there."""
        tasks = (*self._telling.get(place, ()), *self._ending.get(place, ()))
        await asyncio.gather(*tasks, return_exceptions=True)

    async def finish(self) -> None:
        """Returns when everything of the failed clusters is gone."""
        for place in {*self._telling, *self._ending}:
            await self.ended(place)

    async def _told(self, place: str) -> None:
        await asyncio.gather(*self._telling.get(place, ()), return_exceptions=True)

    def _do(
        self,
        tasks: dict[str, set[asyncio.Task[None]]],
        place: str,
        work: Coroutine[None, None, None],
    ) -> None:
        task = asyncio.create_task(work)
        mine = tasks.setdefault(place, set())
        mine.add(task)
        task.add_done_callback(mine.discard)

    def _say(self, name: str, cause: str, left: int) -> None:
        said = f'cluster "{name}" has failed: {cause.partition(chr(10))[0]}'
        self._voice.say(f"{said}; {left} cluster{'s go' if left != 1 else ' goes'} on")

    async def _tell_with_reason(
        self, batch: Batch, name: str, cause: str, left: int, place: str
    ) -> None:
        why = await batch.why_gone(place) or cause
        self._why[place] = why.partition("\n")[0]
        self._say(name, why, left)

    async def _end_all(self, place: str, members: Sequence[Member], *, over: bool) -> None:
        await asyncio.gather(*(self._end(place, member) for member in members))
        if over and self._batch:
            await self._told(place)
            await self._batch.leave(place, self._why.get(place, ""))

    async def _end(self, place: str, member: Member) -> None:
        if member.spawned and not member.exited and not member.lost:
            well = await member.agent.order("kill", grace=_GRACE)
            if well and member.plan.has_ranks:
                with contextlib.suppress(asyncio.TimeoutError):
                    gone = self._members.until(lambda: bool(member.exited or member.lost))
                    await asyncio.wait_for(gone, _GRACE + self._limits.kill)
        if not member.leaving:
            return
        # A scheduler is asked while the batch job runs, unless it has ended that.
        await self._told(place)
        member.lost = True
        self._members.changed()
        await member.agent.close(self._limits.close)
