"""Measuring programs that time their tasks round by round, as contestants: over Isthmus, and
natively inside a cluster."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isthmus.base.itself import itself
from isthmus.grid import gridwriting
from isthmus.measuring.process import measure
from isthmus.measuring.program import prepare
from isthmus_lab.bench import gridfile, mpis
from isthmus_lab.bench.limits import DIRECT, MEMORY, OURS
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.bench.timed import TimedRun, TimedTask
from isthmus_lab.measuring.place import LOOPBACK, Place

INSIDE, NATIVE_INSIDE = "isthmus-inside", "native-inside-"
ISTHMUS = itself()
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Program:
    """`read` makes a sample from the data of a line; `arguments` stand before the tasks."""

    source: Path
    read: Callable[[dict[str, Any]], TimedRun]
    arguments: tuple[str, ...] = ()

    def words(self, mpicc: str, host: str | None = None) -> list[str]:
        return [prepare(mpicc, host, self.source), *self.arguments]


@dataclass(frozen=True)
class Contestant:
    """`inside`: its tasks are between two ranks of one cluster."""

    key: str
    label: str
    command: tuple[str, ...]  # tasks are added at its end and before each ":"
    program: Program
    inside: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    ceiling: int | None = None

    def measure(self, tasks: Sequence[TimedTask], number: int) -> list[TimedRun]:
        texts = [task.text for task in tasks]
        words: list[str] = []
        for word in [*self.command, ":"]:
            words += [*texts, ":"] if word == ":" else [word]
        env = {**os.environ, **self.environment} if self.environment else None
        return measure(words[:-1], tasks, self.key, number, self.program.read, env=env)


def ours(
    place: Place,
    natives: Sequence[Mpi],
    folder: Path,
    wanted: Callable[[str], bool],
    source: Program,
) -> list[Contestant]:
    """Isthmus, by each path that the place has."""
    gateways = gridfile.reached(place.grid, "gateway")
    kinds = [(OURS, "Isthmus, gateways", gateways, (1, 1))]
    if place.open:
        kinds.append((DIRECT, "Isthmus, direct", gridfile.reached(place.grid, "direct"), (1, 1)))
    if place.name == LOOPBACK:
        kinds.append((MEMORY, "Isthmus, shared memory", place.grid, (1, 1)))
        kinds.append((INSIDE, "Isthmus, inside a cluster", place.grid, (2, 1)))
    made = []
    for key, label, grid, ranks in kinds:
        if not wanted(key):
            continue
        file = folder / f"{key}.toml"
        file.write_text(gridwriting.write(grid))
        command = [*ISTHMUS, "run", "-g", str(file)]
        for i, end in enumerate(place.ends):
            program = source.words(mpis.mpicc_at(end, natives), end.compile_on)
            command += [":"] * i + ["--on", end.cluster, "-n", str(ranks[i]), *program]
        made.append(Contestant(key, label, tuple(command), source, inside=ranks != (1, 1)))
    return made


def natively_inside(
    natives: Sequence[Mpi], wanted: Callable[[str], bool], source: Program
) -> list[Contestant]:
    """Two ranks of a native MPI on this host."""
    made = []
    for mpi in natives:
        key = f"{NATIVE_INSIDE}{mpi.key}"
        if not wanted(key):
            continue
        launcher = f"{Path(mpi.mpicc).parent}/{Path(mpi.mpicc).name.replace('mpicc', 'mpirun')}"
        command = (launcher, "-n", "2", *source.words(mpi.mpicc))
        made.append(Contestant(key, mpi.label, command, source, inside=True, environment=_AS_ROOT))
    return made
