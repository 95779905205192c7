"""Waiting for clusters whose ranks come late: in a batch queue, from a slow file system.

Ranks that have joined wait for the others as long as the run lasts. Messages name the
missing clusters, first after some seconds, then at growing intervals."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from isthmus.base.errors import EXIT_TIMEOUT
from isthmus.base.outcome import Ending, Weight
from isthmus.base.relay import Voice
from isthmus.place.plan import Plan
from isthmus.run.members import Member, Members

# Each report comes this many times later than the one before, but hourly at the latest.
_GROWTH = 6
_MAX_PAUSE = 3600.0
_LOOK = 10.0  # seconds between two counts, which also show that ranks cannot start
_COUNT_LIMIT = 2.0  # seconds that agents have to count


@dataclass(frozen=True)
class Missing:
    """A cluster that has not joined. `joined` counts its ranks that have."""

    label: str
    joined: int
    size: int
    queued: str = ""  # a scheduler's words about it
    limit: float | None = None  # seconds that the grid file allows it

    def __str__(self) -> str:
        if self.queued and self.joined == 0:
            return f"{self.label}: {self.queued}"
        how = "has not started yet" if self.joined == 0 else "is not complete yet"
        return f"{self.label} {how}: {self.joined} of {self.size} ranks have joined"


def sentence(seconds: float, missing: Sequence[Missing]) -> str:
    return f"after {seconds:.0f} s, " + "; ".join(map(str, missing))


class Watch:
    """For the ranks of one run, and of what it spawns."""

    def __init__(
        self,
        plan: Plan,
        members: Members,
        ending: Ending,
        voice: Voice,
        *,
        first: float,
        limit: float | None,
    ) -> None:
        """`first`: seconds until the user hears of missing clusters. `limit`: seconds until the run
        ends for them."""
        self._plan = plan
        self._members = members
        self._ending = ending
        self._voice = voice
        self._first = first
        self._limit = limit
        self._watching = False

    async def begin(self) -> None:
        """Watches until all ranks have joined. One watch is enough at a time."""
        if self._watching:
            return
        self._watching = True
        try:
            late = await watch(
                self._missing,
                self._voice.say,
                first=self._first,
                limit=self._limit,
                of_clusters=[c.spec.wait.seconds for c in self._plan.clusters if c.spec.wait],
            )
        finally:
            self._watching = False
        if late:
            whose = "the grid file" if self._limit is None else "--wait"
            self._ending.end(EXIT_TIMEOUT, f"{late}, and {whose} allows no more time", Weight.USER)

    async def _missing(self) -> list[Missing]:
        found = [] if self._ending.begun.is_set() else await missing(self._members)
        return [] if self._ending.begun.is_set() else found


async def missing(members: Members) -> list[Missing]:
    """The clusters that have not joined, with the counts of joined ranks from their agents."""

    def late() -> list[Member]:
        return [m for m in members.ranked if not (m.joined or m.exited or m.lost)]

    if not late():
        return []
    await _count(members, lambda: False)
    found = []
    for member in late():
        cluster = member.cluster
        known = [_integer((m.counts or {}).get(cluster.name)) for m in members]
        found.append(
            Missing(
                member.agent.label,
                max(known),
                cluster.block.size,
                member.chatter.slurm.waits,
                cluster.spec.wait.seconds if cluster.spec.wait else None,
            )
        )
    return found


async def are_ready(members: Members) -> bool:
    """Whether all ranks of the run have joined, as far as an agent's gateway knows."""

    def ready() -> bool:
        return any(m.ready for m in members)

    await _count(members, ready)
    return ready()


async def _count(members: Members, enough: Callable[[], bool]) -> None:
    """Asks the agents to count, and returns when they have, or after _COUNT_LIMIT."""

    def counted() -> bool:
        return enough() or all(m.counts is not None or m.lost for m in members)

    for member in members:
        member.counts = None
        members.later(member.agent.send("count"))
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(members.until(counted), _COUNT_LIMIT)


async def watch(
    missing: Callable[[], Awaitable[list[Missing]]],
    say: Callable[[str], None],
    *,
    first: float,
    limit: float | None,
    of_clusters: Sequence[float] = (),
) -> str | None:
    """Reports missing clusters by `say`, after `first` seconds and later. Returns None once all
    have joined. Returns the sentence that ends the run if one is missing after `limit` seconds, or
    after its own limit of `of_clusters`."""
    clock = asyncio.get_running_loop().time
    begin = clock()
    due, look = first, first
    limits = list(of_clusters) if limit is None else [limit]
    while True:
        until = min([due, look, *limits])
        await asyncio.sleep(max(0.0, begin + until - clock()))
        who = await missing()
        if not who:
            return None
        look = until + _LOOK
        if until == limit:
            return sentence(until, who)
        if over := [m for m in who if m.limit is not None and m.limit <= until]:
            return sentence(until, over)
        limits = [later for later in limits if later > until]
        if until < due:
            continue
        say(sentence(until, who))
        due += min(due * (_GROWTH - 1), _MAX_PAUSE)


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0
