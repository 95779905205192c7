"""The plan of `isthmus bench coll`: which contestants do which tasks in which passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from isthmus.bench import gridfile, mpis
from isthmus.bench.coll import peers, tasks
from isthmus.bench.coll.contestants import Block, IsthmusWorld, NativeWorld
from isthmus.bench.coll.results import CollRun
from isthmus.bench.coll.tasks import CollTask
from isthmus.bench.mpis import Mpi
from isthmus.bench.place import Place, end_of
from isthmus.bench.program import COLL, prepare
from isthmus.bench.session import Entry
from isthmus.errors import IsthmusError, UsageError
from isthmus.grid import GatewaySpec, Grid
from isthmus.placement import Part
from isthmus.placement import place as place_ranks

GATEWAYS = (1, 2, 4)
OURS, DIRECT = "isthmus", "isthmus-direct"
Contestant = IsthmusWorld | NativeWorld


@dataclass(frozen=True)
class Options:
    """Of the command line. Empty: all."""

    repetitions: int = 10
    passes: int = 3
    n: int | None = None
    mpis: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    collectives: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    algorithms: tuple[str, ...] = ()


def entries(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Entry[CollTask, CollRun]]:
    """`folder` is for grid files, and lives as long as the entries. UsageError when nothing is left
    to measure."""
    made = [
        Entry(contestant, passes(contestant, options))
        for contestant in contestants(place, options, folder, say)
    ]
    made = [entry for entry in made if any(entry.tasks)]
    if not made:
        raise UsageError(
            "nothing is left to measure",
            "--only, --collective and --size leave no contestant with a task.",
        )
    return made


# -- contestants ----------------------------------------------------------------------------------


def contestants(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Contestant]:
    """Those that can run at this place. What cannot is said."""

    def wanted(key: str) -> bool:
        return not options.only or any(fnmatch(key, pattern) for pattern in options.only)

    natives = mpis.find(options.mpis)
    found: list[Contestant] = list(_ours(place, natives, options, folder, wanted))
    if place.lab and place.open:
        found += _natives(place, natives, options.n, wanted, say)
    return found


def _ours(
    place: Place,
    natives: Sequence[Mpi],
    options: Options,
    folder: Path,
    wanted: Callable[[str], bool],
) -> list[IsthmusWorld]:
    kinds: list[tuple[str, str, Grid, str]] = []
    direct = gridfile.direct(place.grid) if place.open else None
    if direct:
        kinds.append((DIRECT, "Isthmus, direct", direct, ""))
    kinds.append((OURS, "Isthmus, gateways", place.grid, ""))
    for count in GATEWAYS:
        gateways = _on_nodes(place, count)
        if gateways:
            label = f"Isthmus, {count} gateway{'s' if count > 1 else ''} on nodes"
            grid = gridfile.with_gateways(place.grid, gateways)
            kinds.append((f"{OURS}-{count}", label, grid, ""))
    for text in options.algorithms:
        kinds.append((f"{DIRECT}/{text}", f"Isthmus, {text}", direct or place.grid, text))
    kinds = [kind for kind in kinds if wanted(kind[0])]
    if not kinds:
        return []
    blocks = _blocks(place, options.n, natives)
    made = []
    for i, (key, label, grid, choices) in enumerate(kinds):
        file = folder / f"{i}.toml"
        file.write_text(gridfile.write(grid))
        made.append(IsthmusWorld(key, label, file, blocks, choices, _chosen(choices)))
    return made


def _chosen(choices: str) -> frozenset[str] | None:
    """The collectives that a text for ISTHMUS_COLL is about; None: not any."""
    names = [choice.partition("=")[0].strip() for choice in choices.split(",") if choice]
    return frozenset(names) or None


def _on_nodes(place: Place, count: int) -> list[GatewaySpec]:
    """So many gateways of each cluster on its first nodes; none where it has fewer."""
    made = []
    for cluster in place.grid.cluster if place.network else ():
        assert place.network
        nodes = place.network.of_site(cluster, "node")[:count]
        if len(nodes) < count:
            return []
        made += [
            GatewaySpec(cluster=cluster, host=node.name, address=node.ports[0].address)
            for node in nodes
        ]
    return made


def _blocks(place: Place, n: int | None, natives: Sequence[Mpi]) -> tuple[Block, ...]:
    """Ranks are placed as `isthmus run -n` places them."""
    programs: dict[tuple[str, str | None], str] = {}
    made = []
    for block in place_ranks(place.grid.cluster, [Part(["coll"], n)]):
        end = end_of(place, block.cluster)
        mpicc = f"{end.mpi}/bin/mpicc" if end.mpi else "mpicc"
        if not end.mpi and not end.compile_on and natives:
            mpicc = natives[0].mpicc
        at = (mpicc, end.compile_on)
        if at not in programs:
            programs[at] = prepare(mpicc, end.compile_on, COLL)
        made.append(Block(block.cluster, block.size, programs[at]))
    return tuple(made)


def _natives(
    place: Place,
    natives: Sequence[Mpi],
    n: int | None,
    wanted: Callable[[str], bool],
    say: Callable[[str], None],
) -> list[NativeWorld]:
    blocks = tuple(
        Block(block.cluster, block.size, "")
        for block in place_ranks(place.grid.cluster, [Part(["coll"], n)])
    )
    made: list[NativeWorld] = []
    for mpi in natives:
        for setting in peers.settings(mpi):
            key, label = f"native-{mpi.key}-{setting.name}", f"{mpi.label}, {setting.name}"
            if not wanted(key):
                continue
            try:
                program = prepare(mpi.mpicc, None, COLL)
            except IsthmusError as error:
                say(f"{label} is left out: {error}")
                continue
            made.append(
                NativeWorld(
                    key, label, mpi, program, blocks, setting.environment, setting.collectives
                )
            )
    return made


# -- tasks ----------------------------------------------------------------------------------------


def passes(contestant: Contestant, options: Options) -> list[list[CollTask]]:
    made = _full(contestant, options)
    return [[task for task in tasks_ if _does(contestant, task)] for tasks_ in made]


def _does(contestant: Contestant, task: CollTask) -> bool:
    return contestant.collectives is None or task.blocking in contestant.collectives


def _full(contestant: Contestant, options: Options) -> list[list[CollTask]]:
    each = max(1, -(-options.repetitions // options.passes))
    made = []
    for collective in _collectives(options):
        blocking = CollTask(collective, 0, 1).blocking
        for size in options.sizes or tasks.sizes_of(blocking):
            task = CollTask(collective, 0 if collective.endswith("barrier") else size, each)
            if blocking != collective:
                task = replace(task, tests=0)
            if task not in made:
                made.append(task)
    return [made] * options.passes


def _collectives(options: Options) -> list[str]:
    if not options.collectives:
        return list(tasks.COLLECTIVES)
    known = [*tasks.COLLECTIVES, *(f"i{name}" for name in tasks.COLLECTIVES)]
    found = [n for n in known if any(fnmatch(n, pattern) for pattern in options.collectives)]
    if not found:
        raise UsageError(
            f"--collective {' '.join(options.collectives)}: no collective is called so; there are "
            f"{', '.join(tasks.COLLECTIVES)}, and their non-blocking forms, ibcast and so on"
        )
    return found
