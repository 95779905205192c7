"""The place where parts dial in: the wait until those of all clusters are there, and the agents
that they start then."""

import asyncio
import contextlib
import math
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from isthmus.base.errors import RunError
from isthmus.base.units import format_time
from isthmus.doors.doorway import Doorway, Place
from isthmus.doors.keys import Lock
from isthmus.queues.summons import Summons
from isthmus.run.agent import MAX_LINE
from isthmus.run.arrival import Arrival, ArrivalProtocol, Message, left_of

_HELLO_LIMIT = 20.0  # seconds that a connection has to say who it is
_HEARTBEAT = 60.0  # waiting parts hear from us at least this often, and schedulers are asked
_FIRST_LOOK = 3.0  # seconds; each look comes later than the one before, up to a heartbeat
_REQUEUE_LIMIT = 60.0  # seconds that a scheduler has to take a part back
_UNEQUAL = 0.9  # of times left, from which on the difference is not worth a word


@dataclass(frozen=True)
class Policy:
    """Seconds. `hold`: how long an arrived part waits before it goes back into its queue; `wait`:
    how long the whole job waits at most."""

    hold: float | None = None
    wait: float | None = None


@dataclass(frozen=True)
class Awaited:
    """The job begins when all `clusters` are there. `spares` may come later. The job goes on
    without those that may leave."""

    clusters: Sequence[str]
    spares: Sequence[str] = ()
    may_leave: Collection[str] = ()


class GatheringError(RunError):
    """Not all parts have come."""


@dataclass
class Guest:
    """A part that has arrived."""

    arrival: Arrival
    said: Message
    since: float
    is_in: bool = False  # it has been told that the job begins

    @property
    def label(self) -> str:
        batch = self.said.get("batch")
        return f"{self.said.get('host')}" + (f", batch job {batch}" if batch else "")


class Door:
    """Of one job. `say` is given what is worth telling; `over(cluster)` asks the cluster's
    scheduler whether its part will never come, and says why, or returns an empty text;
    `moved(cluster, printed)` gets the output of the command that gave a part back to its queue.
    `here(clusters)` hears which parts are connected, at each change."""

    def __init__(
        self,
        awaited: Awaited,
        lock: Lock,
        policy: Policy,
        say: Callable[[str], None],
        over: Callable[[str], Awaitable[str]],
        moved: Callable[[str, str], None] = lambda cluster, printed: None,
        here: Callable[[list[str]], None] = lambda clusters: None,
    ) -> None:
        self._awaits = awaited
        self._clusters = list(awaited.clusters)
        self._lock = lock
        self._policy = policy
        self._say = say
        self._over = over
        self._moved = moved
        self._here = here
        self.guests: dict[str, Guest] = {}
        self._news = asyncio.Event()
        self._left: set[str] = set()  # have gone again; their schedulers know why
        self._begun = False
        self._returning: set[str] = set()  # are being given back: nobody knows as which job
        self._tasks: set[asyncio.Task[None]] = set()
        self._doorway: Doorway | None = None
        self._summons = Summons()
        self._used: set[str] = set()  # have been told to begin, and come once

    async def open(self, listening: socket.socket) -> None:
        def arrival(place: Place) -> ArrivalProtocol:
            def met(arrival: Arrival) -> None:
                place.proved()
                self._do(self._greet(arrival))

            return ArrivalProtocol(met, MAX_LINE)

        self._doorway = Doorway(
            factory=arrival, context=self._lock.context, names=self._lock.names,
            say=self._say, tell=self._say,
        )  # fmt: skip
        self._doorway.listen(listening)

    def close(self) -> None:
        if self._doorway:
            self._doorway.close()
        for task in self._tasks:
            task.cancel()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _greet(self, arrival: Arrival) -> None:
        try:
            said = await asyncio.wait_for(arrival.read(), _HELLO_LIMIT)
        except (RunError, asyncio.TimeoutError):
            arrival.close()
            return
        cluster = self._lock.cluster_of(arrival.certificate) or ""
        if said.get("op") == "agent":
            if not self._summons.comes(cluster, said, arrival):
                arrival.close()
            return
        if refused := self._refusal(cluster, said):
            await arrival.tell(op="no", message=refused)
            arrival.close()
            return
        guest = Guest(arrival, said, time.monotonic())
        self.guests[cluster] = guest
        self._tell_here()
        self._left.discard(cluster)
        self._say(f"cluster {cluster} has come ({guest.label})")
        self._news.set()
        if self._begun:
            await self._keep_waiting(guest)
        await arrival.exited.wait()
        if self.guests.get(cluster) is guest:
            del self.guests[cluster]
            self._tell_here()
            self._left.add(cluster)
            self._news.set()

    def _tell_here(self) -> None:
        self._here(list(self.guests))

    # -- once the job has begun --------------------------------------------------------------

    async def agent(self, cluster: str) -> Arrival:
        """Another agent of this cluster. RunError if none comes."""
        guest = self.guests.get(cluster)
        if guest is None:
            raise RunError("its batch job has ended")
        if not guest.is_in:
            guest.is_in = True
            self._used.add(cluster)
            await guest.arrival.tell(op="go")
            self._do(self._hear_troubles(cluster, guest))
        return await self._summons.agent(cluster, guest.arrival)

    async def until_here(self, cluster: str, limit: float | None) -> None:
        """Waits for a spare cluster, at most `limit` seconds or what the user allows. RunError if
        it does not come."""
        begin = asked = time.monotonic()
        look, told = 0.0, False
        limit = min((each for each in (limit, self._policy.wait) if each is not None), default=None)
        while cluster not in self.guests:
            if cluster in self._used:
                raise RunError(f"cluster {cluster}: its batch job has ended")
            now = time.monotonic()
            if now - asked >= look:
                asked, look = now, min(2 * look or _FIRST_LOOK, _HEARTBEAT)
                if why := await self._over(cluster):
                    raise RunError(f"cluster {cluster}: {why}")
                if cluster in self.guests:
                    return
            if limit is not None and now - begin >= limit:
                after = f"after {format_time(limit)}, " if limit else ""
                raise RunError(f"{after}cluster {cluster} has not come from its queue yet")
            if not told:
                told = True
                self._say(f"the program waits for cluster {cluster} to come from its queue")
            due = min(asked + look, begin + limit if limit is not None else math.inf)
            self._news.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), max(0.01, due - now))

    async def dismiss(self, cluster: str) -> None:
        """Its batch job ends."""
        if guest := self.guests.get(cluster):
            if not guest.is_in:
                await guest.arrival.tell(op="go")  # so that it ends well, and forgets its key
            guest.arrival.close()

    async def _keep_waiting(self, guest: Guest) -> None:
        """A spare part hears from here until it is needed."""
        while not (guest.is_in or guest.arrival.exited.is_set()):
            await guest.arrival.tell(op="wait", message="waits until the program needs it")
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(guest.arrival.exited.wait(), _HEARTBEAT)

    async def _hear_troubles(self, cluster: str, guest: Guest) -> None:
        with contextlib.suppress(RunError):
            while True:
                said = await guest.arrival.read()
                if said.get("op") == "trouble":
                    self._summons.fails(cluster, said)

    # -- until then --------------------------------------------------------------------------

    def _refusal(self, cluster: str, said: Message) -> str:
        """Why the part with the key of `cluster` may not join; empty where it may."""
        if said.get("op") != "join" or cluster not in (*self._clusters, *self._awaits.spares):
            return "this job has no part with that key"
        if (claimed := said.get("cluster", cluster)) != cluster:
            return f"this is the key of cluster {cluster}; cluster {claimed} has its own"
        if self._begun and (cluster in self._clusters or cluster in self._used):
            return "the job has begun already"
        if cluster in self.guests:
            return f"cluster {cluster} is there already ({self.guests[cluster].label})"
        return ""

    async def gather(self) -> None:
        """Returns once all clusters are there. GatheringError when a part will never come, or time
        is up; all who had come have been told then."""
        begin = asked = time.monotonic()
        look = _FIRST_LOOK
        try:
            while not all(cluster in self.guests for cluster in self._clusters):
                now = time.monotonic()
                self._news.clear()
                await self._release(now)
                if self._policy.wait is not None and now - begin >= self._policy.wait:
                    span = format_time(self._policy.wait)
                    said = f"after {span}, {self._awaited()}, and --wait allows no more"
                    raise GatheringError(said)
                if self._left or now - asked >= look:
                    asked, look = now, min(2 * look, _HEARTBEAT)
                    await self._ask()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(
                        self._news.wait(), self._pause(now, [asked + look], begin)
                    )
        except GatheringError as error:
            for guest in list(self.guests.values()):
                ended = f"the job has ended: {error.sentence}"
                await guest.arrival.tell(op="no", message=ended, over=True)
                guest.arrival.close()
            raise
        self._compare_times()
        self._begun = True
        for cluster, guest in self.guests.items():
            if cluster in self._awaits.spares:
                self._do(self._keep_waiting(guest))

    def _awaited(self, but: str = "") -> str:
        missing = [name for name in self._clusters if name not in self.guests and name != but]
        return f"cluster{'s' if len(missing) > 1 else ''} {' and '.join(missing)} not there yet"

    def _pause(self, now: float, due: list[float], begin: float) -> float:
        """Seconds until something is due."""
        if self._policy.wait is not None:
            due.append(begin + self._policy.wait)
        if self._policy.hold is not None:
            due += [guest.since + self._policy.hold for guest in self.guests.values()]
        return max(0.01, min(due) - now)

    async def _release(self, now: float) -> None:
        """Guests that have waited long enough go back into their queues."""
        hold = self._policy.hold
        for cluster, guest in list(self.guests.items()):
            if hold is None or now - guest.since < hold:
                continue
            del self.guests[cluster]
            self._tell_here()
            said = f"after {format_time(hold)}, {self._awaited(but=cluster)}"
            self._say(f"cluster {cluster} goes back into its queue: {said}")
            self._returning.add(cluster)
            await guest.arrival.tell(op="requeue", message=said)
            self._do(self._hear_of(cluster, guest))

    async def _hear_of(self, cluster: str, guest: Guest) -> None:
        """Reports how one was given back, or nothing if its scheduler has ended it before."""
        try:
            said = await asyncio.wait_for(guest.arrival.read(), _REQUEUE_LIMIT)
        except (RunError, asyncio.TimeoutError):
            said = {}
        if said.get("op") == "requeued" and said.get("status"):
            why = f"cluster {cluster} could not be given back to its queue: {said.get('said')}"
            self._say(why.strip())
        elif said.get("op") == "requeued":
            self._moved(cluster, str(said.get("said")))
        guest.arrival.close()
        self._returning.discard(cluster)
        self._news.set()

    async def _ask(self) -> None:
        """Schedulers, of those who are not there; and tells the others who that is."""
        for cluster in self._clusters:
            if cluster in self.guests or cluster in self._returning:
                continue
            if why := await self._over(cluster):
                raise GatheringError(f"cluster {cluster}: {why}")
            if cluster in self._left:
                self._left.discard(cluster)
                self._say(f"cluster {cluster} has gone, and is awaited again")
        if all(cluster in self.guests for cluster in self._clusters):
            return  # the last came meanwhile
        for guest in list(self.guests.values()):
            await guest.arrival.tell(op="wait", message=f"waits: {self._awaited()}")

    def _compare_times(self) -> None:
        """The end of one part ends all, unless it may leave: whose time ends first is worth a
        word."""
        left = {
            cluster: seconds
            for cluster, guest in self.guests.items()
            if cluster in self._clusters and (seconds := left_of(guest.said)) is not None
        }
        if not left:
            return
        first = min(left, key=lambda cluster: left[cluster])
        longest = max(left.values())
        if left[first] < _UNEQUAL * longest and first not in self._awaits.may_leave:
            self._say(
                f"cluster {first} has {left[first] / 60:.0f} min left, the others more; its end "
                "is the job's"
            )
