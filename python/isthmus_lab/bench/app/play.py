"""The executions of `isthmus bench app`, in their order: program by program, and for each all
contestants and layouts in turn. So times that are compared were taken within minutes of each
other."""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isthmus.base.errors import IsthmusError, UsageError
from isthmus.grid.grid import Grid
from isthmus_lab.bench.app.contestants import Contestant, execute
from isthmus_lab.bench.app.layouts import (
    HALF,
    LAYOUTS,
    ONE,
    SPLIT,
    Setup,
    check_site,
    most_ranks,
    setup,
)
from isthmus_lab.bench.app.options import Options
from isthmus_lab.bench.app.programs import Program
from isthmus_lab.bench.app.results import AppResults, AppRun
from isthmus_lab.bench.app.roster import DIRECT
from isthmus_lab.measuring.machine import Looks
from isthmus_lab.measuring.place import Place
from isthmus_lab.measuring.traffic import Watch

QUICK_LIMIT = 480.0  # seconds in one lab; executions that have begun still end
QUICK_RANKS = 8  # more ranks only keep two cores busy with each other (2026-11)
QUICK_LAYOUTS = (ONE, SPLIT, HALF)
_MOST_FAILURES = 2  # for a contestant with one program in one layout


@dataclass(frozen=True)
class Turn:
    program: Program
    setup: Setup
    contestant: Contestant

    @property
    def text(self) -> str:
        layout = f"{self.setup.layout} of {self.setup.n}"
        return f"{self.program.name}, {layout}: {self.contestant.label}"


def setups(grid: Grid, options: Options) -> list[Setup]:
    """The layouts that fit the clusters. UsageError if one does not fit that was asked for."""
    check_site(grid.cluster, options.site)
    made = []
    most = most_ranks(grid.cluster)
    for n in options.ranks or (min(most, QUICK_RANKS) if options.quick else most,):
        for layout in options.layouts or (QUICK_LAYOUTS if options.quick else LAYOUTS):
            found = setup(grid.cluster, layout, n, options.site)
            asked = layout in options.layouts or (layout == SPLIT and n in options.ranks)
            if found is None and asked:
                slots = ", ".join(f"{c} {s.slots}" for c, s in grid.cluster.items() if s.slots)
                raise UsageError(
                    f"no cluster has room for {layout} of {n} ranks"
                    + (f" (slots: {slots})" if slots else ""),
                    "Choose other -n and --layout, or raise 'slots' in the grid file.",
                )
            made += [found] if found else []
    return made


def turns(
    programs: Sequence[Program],
    made: Sequence[Setup],
    contestants: Sequence[Contestant],
    options: Options,
) -> list[Turn]:
    """The turns of one pass."""

    def wanted(contestant: Contestant, one: Setup) -> bool:
        if not options.quick or options.only:
            return True
        return one.layout == SPLIT or contestant.key == DIRECT  # for the limits

    return [
        Turn(program, one, contestant)
        for program in programs
        for one in made
        for contestant in contestants
        if contestant.plays(one) and wanted(contestant, one)
    ]


def play(
    schedule: Sequence[Turn],
    options: Options,
    results: AppResults,
    say: Callable[[str], None],
    deadline: float | None = None,
    place: Place | None = None,
) -> None:
    """Never raises for failures of programs; they go to `failures`. It begins nothing after
    `deadline` (of time.monotonic())."""
    looks, broken = Looks(), set[int]()
    watch = Watch(place) if place and options.traffic else None
    for turn in schedule:
        results.labels.setdefault(turn.contestant.key, turn.contestant.label)
    failed: dict[int, int] = {}  # by place in the schedule
    passes = 2 if options.quick else options.repetitions
    late: set[str] = set()
    for number, i in itertools.product(range(passes), range(len(schedule))):
        turn = schedule[i]
        if failed.get(i, 0) >= _MOST_FAILURES:
            continue
        if deadline is not None and time.monotonic() > deadline:
            if number == 0:
                late.add(turn.text)
            continue
        looks.look()
        if watch:
            watch.begin()
        try:
            command = turn.contestant.command(turn.program, turn.setup)
            took = execute(command, turn.program, options.limit)
        except IsthmusError as error:
            failed[i] = failed.get(i, 0) + 1
            broken.add(i)
            results.failures.append(f"{turn.text}: {error}")
            say(f"pass {number + 1} of {passes}: {turn.text}: failed")
            continue
        if watch:
            watch.keep(results, turn.contestant.key, number)
        one = turn.setup
        broken.discard(i)
        results.runs.append(
            AppRun(
                turn.contestant.key, number, turn.program.name, one.layout, one.n, one.ranks,
                took.seconds, took.wall,
            )
        )  # fmt: skip
        say(f"pass {number + 1} of {passes}: {turn.text}: {took.seconds:.4g} s")
    results.failures += [f"{text}: time was up before its turn" for text in sorted(late)]
    results.failed += sorted({schedule[i].contestant.key for i in broken})
    results.machines[""] = looks.machine(place)
