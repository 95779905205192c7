"""The plan of `isthmus bench coll`: which contestants do which tasks in which passes."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from isthmus.base.errors import UsageError
from isthmus_lab.bench.coll import roster, tasks
from isthmus_lab.bench.coll.contestants import NativeWorld
from isthmus_lab.bench.coll.options import Options
from isthmus_lab.bench.coll.results import CollRun
from isthmus_lab.bench.coll.roster import DIRECT, FLAT, Contestant, paper
from isthmus_lab.bench.coll.tasks import KIB, MIB, CollTask
from isthmus_lab.bench.coll.variants import LOSSY
from isthmus_lab.bench.limits import PLAIN
from isthmus_lab.bench.session import Entry
from isthmus_lab.measuring.place import LOOPBACK, Place

QUICK_LIMIT = 470.0  # seconds in one lab; tasks that have begun still end
LARGE = (MIB, 3_200_000, 8 * MIB, 32_000_000)


def entries(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Entry[CollTask, CollRun]]:
    """`folder` is for grid files, and lives as long as the entries. UsageError if nothing is left
    to measure."""
    made = [
        Entry(contestant, passes(contestant, options, place.name == LOOPBACK))
        for contestant in roster.contestants(place, options, folder, say)
    ]
    made = [entry for entry in made if any(entry.tasks)]
    if not made:
        raise UsageError(
            "nothing to measure: no task matches --only, --collective and --size",
            "Leave out one of these options.",
        )
    return made


def passes(
    contestant: Contestant, options: Options, on_one_host: bool = False
) -> list[list[CollTask]]:
    made = _quick(contestant, options, on_one_host) if options.quick else _full(options)
    return [[task for task in tasks_ if _does(contestant, options, task)] for tasks_ in made]


def _does(contestant: Contestant, options: Options, task: CollTask) -> bool:
    if options.quick and options.collectives and task.collective not in collectives(options):
        return False
    kinds = {task.blocking, tasks.kind_of(task.blocking)}
    return contestant.collectives is None or not kinds.isdisjoint(contestant.collectives)


def collectives(options: Options) -> list[str]:
    if not options.collectives:
        return list(tasks.COLLECTIVES)
    known = [*tasks.COLLECTIVES, *(f"i{name}" for name in tasks.COLLECTIVES)]
    found = [n for n in known if any(fnmatch(n, pattern) for pattern in options.collectives)]
    if not found:
        raise UsageError(
            f"--collective {' '.join(options.collectives)}: unknown; collectives are "
            f"{', '.join(tasks.COLLECTIVES)}, and their non-blocking forms, ibcast and so on"
        )
    return found


# -- everything -----------------------------------------------------------------------------------


def _full(options: Options) -> list[list[CollTask]]:
    each = max(1, -(-options.repetitions // options.passes))
    made: list[CollTask] = []
    for collective in collectives(options):
        blocking = CollTask(collective, 0, 1).blocking
        for size in options.sizes or tasks.sizes_of(blocking):
            task = CollTask(collective, 0 if blocking == "barrier" else size, each)
            made += [task] if blocking == collective else _overlapped(task)
            mixed = options.interleaved or (not options.narrowed and collective in _MAIN)
            if mixed and blocking == collective:
                made.append(replace(task, interleaved=True))
    return [list(dict.fromkeys(made))] * options.passes


_TESTS = 50  # calls of MPI_Test during a non-blocking collective


def _overlapped(task: CollTask) -> list[CollTask]:
    """Without calls of MPI_Test meanwhile, and with some."""
    return [replace(task, tests=tests) for tests in (0, _TESTS)]


# -- what the limits need -------------------------------------------------------------------------


def _quick(contestant: Contestant, options: Options, on_one_host: bool) -> list[list[CollTask]]:
    if on_one_host:
        return [[*_small(20), *_middle(10), *_blocks(10)]] * 2
    if options.variant == LOSSY:
        lossy = [CollTask(name, 3_200_000, 5) for name in ("bcast", "allreduce")]
        return [lossy] if contestant.key == DIRECT else []
    if isinstance(contestant, NativeWorld):
        if not contestant.setting.best:
            return []
        large = [CollTask(name, size, 2) for name in _MAIN for size in LARGE[:2]]
        return [[*_small(4), *_middle(3), *large, *_blocks(2), *_mixed(2), *_others(2)]]
    if contestant.key == PLAIN:  # the tasks that are compared
        large = [CollTask(name, size, 3) for name in _MAIN for size in LARGE[:2]]
        return [[*_small(10), *_middle(6), *large, *_blocks(6), *_mixed(4), *_others(3)]]
    if contestant.key == DIRECT:
        large = [
            CollTask(name, size, repetitions)
            for name in _MAIN
            for size, repetitions in zip(LARGE, (4, 3, 2, 1), strict=True)
        ]
        overlapped = [
            task for name in _MAIN for task in _overlapped(CollTask(f"i{name}", 3_200_000, 2))
        ]
        small = [*_small(10), *_middle(6), *_blocks(6)]
        return [[*small, *large, *_mixed(4), *_others(3), *overlapped], small]
    if contestant.choices and contestant.key != paper(FLAT):
        return [[CollTask(name, 32_000_000, 1) for name in _MAIN]]
    return []


_MAIN = ("bcast", "allreduce")


def _small(repetitions: int) -> Iterable[CollTask]:
    yield CollTask("barrier", 0, repetitions)
    for name in _MAIN:
        yield CollTask(name, 8, repetitions)


def _middle(repetitions: int) -> list[CollTask]:
    return [CollTask(name, 256 * KIB, repetitions) for name in _MAIN]


def _blocks(repetitions: int) -> list[CollTask]:
    return [CollTask(name, 64 * KIB, repetitions) for name in ("alltoall", "allgather")]


def _mixed(repetitions: int) -> Iterable[CollTask]:
    for name in _MAIN:
        yield CollTask(name, 256 * KIB, repetitions, True)
        yield CollTask(name, 3_200_000, 2, True)


def _others(repetitions: int) -> Iterable[CollTask]:
    for name in ("alltoall", "allgather"):
        yield CollTask(name, 8, repetitions)
    for name in ("gather", "scatter", "reduce_scatter_block"):
        yield CollTask(name, 8, repetitions)
        yield CollTask(name, 64 * KIB, repetitions)
    for name in ("reduce", "scan", "exscan"):
        yield CollTask(name, 8, repetitions)
        yield CollTask(name, 256 * KIB, repetitions)
