"""A run of a benchmark: all contestants in turn, several times, so that changes on the machine meet
them all alike."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from isthmus.base.errors import IsthmusError
from isthmus.measuring.process import BrokenOffError
from isthmus_lab.measuring.machine import Looks
from isthmus_lab.measuring.place import Place
from isthmus_lab.measuring.samples import Sample, Samples
from isthmus_lab.measuring.traffic import Watch

_MOST_FAILURES = 2

TaskT = TypeVar("TaskT")
TaskT_contra = TypeVar("TaskT_contra", contravariant=True)
SampleT = TypeVar("SampleT", bound=Sample)
SampleT_co = TypeVar("SampleT_co", bound=Sample, covariant=True)


class Contestant(Protocol[TaskT_contra, SampleT_co]):
    """`ceiling` limits the kernel's socket buffers; if None, the place's own limit holds."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def ceiling(self) -> int | None: ...
    def measure(self, tasks: Sequence[TaskT_contra], number: int) -> Sequence[SampleT_co]: ...


@dataclass(frozen=True)
class Entry(Generic[TaskT, SampleT]):
    """`tasks[i]` is done in pass i; a contestant sits out the passes beyond."""

    contestant: Contestant[TaskT, SampleT]
    tasks: Sequence[Sequence[TaskT]]


def measure(
    place: Place,
    entries: Sequence[Entry[Any, SampleT]],
    results: Samples[SampleT],
    say: Callable[[str], None],
    deadline: float | None = None,
    watched: bool = False,
) -> None:
    """Never raises for failures of contestants; they go to `failures`. It begins nothing after
    `deadline` (of time.monotonic()). `watched`: traffic over the wide area of a lab is kept."""
    watch = Watch(place) if watched else None
    results.labels |= {entry.contestant.key: entry.contestant.label for entry in entries}
    failed: dict[str, int] = {}
    broken: set[str] = set()
    looks = Looks()
    passes = max((len(entry.tasks) for entry in entries), default=0)
    late: dict[str, str] = {}
    try:
        for number in range(passes):
            for entry in entries:
                contestant = entry.contestant
                if number >= len(entry.tasks) or not entry.tasks[number]:
                    continue
                if failed.get(contestant.key, 0) >= _MOST_FAILURES:
                    continue
                if deadline is not None and time.monotonic() > deadline:
                    late[contestant.key] = contestant.label
                    continue
                place.set_ceiling(contestant.ceiling)
                looks.look()
                begin = time.monotonic()
                if watch:
                    watch.begin()
                try:
                    results.runs += contestant.measure(entry.tasks[number], number)
                    broken.discard(contestant.key)
                except IsthmusError as error:
                    if isinstance(error, BrokenOffError):
                        results.runs += error.runs
                    failed[contestant.key] = failed.get(contestant.key, 0) + 1
                    broken.add(contestant.key)
                    results.failures.append(f"{contestant.label}: {error}")
                if watch:
                    watch.keep(results, contestant.key, number)
                took = time.monotonic() - begin
                say(f"pass {number + 1} of {passes}: {contestant.label} ({took:.0f} s)")
    finally:
        place.set_ceiling(None)
    measured = results.measured()
    results.failed += [key for key in failed if key in broken]
    results.machines[""] = looks.machine(place)
    for key, label in late.items():
        if key not in measured:
            results.failures.append(f"{label}: time was up before its turn")
