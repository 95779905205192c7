"""The batch jobs of a submitted job: what a run asks of them, and what its folder says of them."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from isthmus.base.relay import Voice
from isthmus.queues import schedulers
from isthmus.queues.door import Door
from isthmus.queues.place import Place
from isthmus.queues.submission import Part, cancel_all
from isthmus.run.arrival import Arrival


class BatchJobs:
    """One for each cluster. It is a `Batch` (run/batch.py) once the job has begun."""

    def __init__(
        self, place: Place, parts: Sequence[Part], spares: Sequence[str], voice: Voice
    ) -> None:
        self.door: Door | None = None
        self._place = place
        self._parts = {part.cluster: part for part in parts}
        self._spares = spares
        self._voice = voice
        self._state = "waiting"
        self._here: list[str] = []
        self._left: dict[str, dict[str, object]] = {}
        self._let_go: set[str] = set()

    # -- the folder --------------------------------------------------------------------------

    def begins(self) -> None:
        self._state = "running"
        self._note()

    def here(self, clusters: list[str]) -> None:
        """These are connected now."""
        self._here = clusters
        self._note()

    def ended(self, status: int, sentence: str) -> None:
        self._write({"state": "ended", "status": status, "sentence": sentence})

    def moved(self, cluster: str, printed: str) -> None:
        """A part went back to its queue, mostly as another job."""
        part = self._parts[cluster]
        found = schedulers.found_identifier(part.scheduler, printed)
        if not part.scheduler.submits_anew or not found:
            return
        self._parts[cluster] = replace(part, identifier=found)
        self._voice.say(f"cluster {cluster}: {part.scheduler.title} job {found} from now on")
        known = self._place.facts("job.json")
        known["parts"] = [part.facts() for part in self._parts.values()]
        self._place.note("job.json", known)

    def _note(self) -> None:
        """In a running job only spare parts come and go."""
        here: Mapping[str, Any] = {"here": self._here}
        if self._state == "running":
            here = {"spares": {one: one in self._here for one in self._spares}}
        self._write({"state": self._state, **here})

    def _write(self, facts: dict[str, Any]) -> None:
        left = {"left": self._left} if self._left else {}
        self._place.note("state.json", {**facts, **left})

    # -- what schedulers do ------------------------------------------------------------------

    async def why_over(self, cluster: str) -> str:
        """Its scheduler's word for a job that will not run any more; else an empty text."""
        return await self._parts[cluster].why_over()

    async def why_gone(self, cluster: str) -> str:
        return await self._parts[cluster].why_gone()

    async def agent(self, cluster: str) -> Arrival:
        assert self.door
        return await self.door.agent(cluster)

    async def until_here(self, cluster: str, limit: float | None) -> None:
        assert self.door
        await self.door.until_here(cluster, limit)

    async def leave(self, cluster: str, why: str) -> None:
        assert self.door
        if cluster in self._let_go:
            return
        self._left[cluster] = {"at": time.time(), "why": why}
        self._note()
        await self.door.dismiss(cluster)
        await self._parts[cluster].cancel_later()

    def let_go(self, clusters: Collection[str]) -> None:
        self._let_go.update(clusters)

    async def finish(self, *, well: bool) -> None:
        """The job has ended here. Parts that have come end by themselves; others would wait in a
        queue for nobody."""
        assert self.door
        absent = [self._parts[one] for one in self._spares if one not in (*self._here, *self._left)]
        for cluster in self._parts:
            await self.door.dismiss(cluster)
        if well:
            for part in absent:
                await part.cancel_later()  # some may have ended before
            return
        own = [part for cluster, part in self._parts.items() if cluster not in self._let_go]
        for trouble in cancel_all(own):
            self._voice.warn(trouble)
