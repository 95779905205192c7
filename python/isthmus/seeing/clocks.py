"""One clock from the clocks of all hosts. Each is read before the ranks start and after they have
ended, and is taken to run evenly between."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from isthmus.base.errors import IsthmusError
from isthmus.run.agent import Agent

_ROUNDS = 8
_LIMIT = 5.0  # seconds


@dataclass(frozen=True)
class Reading:
    """At `at`, by the launcher's clock, a host's clock was `ahead`; all in nanoseconds. It is exact
    to half the round trip."""

    at: int
    ahead: int
    round_trip: int


async def ask(agent: Agent) -> Reading | None:
    """The best of several round trips; or None if the agent does not answer."""
    best: Reading | None = None
    try:
        for _ in range(_ROUNDS):
            sent = time.time_ns()
            answer = await agent.request("clock", "clock", _LIMIT)
            heard = time.time_ns()
            middle = (sent + heard) // 2
            reading = Reading(middle, int(answer["time"]) - middle, heard - sent)
            if best is None or reading.round_trip < best.round_trip:
                best = reading
    except (IsthmusError, KeyError, TypeError, ValueError):
        pass  # a lost agent is reported elsewhere
    return best


@dataclass
class Clock:
    """The clock of one host: its readings, of which the first and the last count."""

    readings: list[Reading] = field(default_factory=list)

    def common(self, local: int) -> int:
        """The launcher's time when this clock showed `local`; nanoseconds."""
        if not self.readings:
            return local
        first, last = self.readings[0], self.readings[-1]
        span = last.at - first.at
        passed = local - first.ahead - first.at
        gained = (last.ahead - first.ahead) / span if span > 0 else 0.0  # nanoseconds in each
        return first.at + passed - round(passed * gained / (1 + gained))

    @property
    def unsure(self) -> int:
        """The nanoseconds by which it may be wrong, unless it is the launcher's own."""
        return max((reading.round_trip // 2 for reading in self.readings), default=0)


def merged(places: Sequence[str], rounds: Sequence[Mapping[int, Reading]]) -> list[Clock]:
    """A clock for each agent, from readings in rounds. Agents on one host have the same place, if
    that is known, and share a clock."""
    found: dict[str | int, Clock] = {}
    keys: list[str | int] = [place or index for index, place in enumerate(places)]
    for readings in rounds:
        best: dict[str | int, Reading] = {}
        for index, reading in readings.items():
            key = keys[index]
            if key not in best or reading.round_trip < best[key].round_trip:
                best[key] = reading
        for key, reading in best.items():
            found.setdefault(key, Clock()).readings.append(reading)
    return [found.setdefault(key, Clock()) for key in keys]
