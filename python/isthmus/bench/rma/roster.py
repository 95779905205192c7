"""Who is measured by `isthmus bench rma`."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from isthmus.bench import gridfile, mpis
from isthmus.bench.contestants import tunings
from isthmus.bench.limits import DIRECT, MEMORY, OURS
from isthmus.bench.mpis import Mpi
from isthmus.bench.rma.limits import INSIDE, NATIVE_INSIDE
from isthmus.bench.rma.results import RmaRun, run_from_json
from isthmus.bench.rma.tasks import RmaTask
from isthmus.errors import IsthmusError
from isthmus.measuring.place import LOOPBACK, Place
from isthmus.measuring.process import measure
from isthmus.measuring.program import prepare

SOURCE = Path(__file__).with_name("rma.c")
_ISTHMUS = [sys.executable, "-m", "isthmus"]
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Contestant:
    """`inside`: its tasks are those between two ranks of one cluster."""

    key: str
    label: str
    command: tuple[str, ...]  # to which the tasks are added, at the end and before each ":"
    inside: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    ceiling: int | None = None

    def measure(self, tasks: Sequence[RmaTask], number: int) -> list[RmaRun]:
        texts = [task.text for task in tasks]
        words: list[str] = []
        for word in [*self.command, ":"]:
            words += [*texts, ":"] if word == ":" else [word]
        env = {**os.environ, **self.environment} if self.environment else None
        return measure(words[:-1], tasks, self.key, number, run_from_json, env=env)


def contestants(
    place: Place,
    named: Sequence[str],
    only: Sequence[str],
    folder: Path,
    say: Callable[[str], None],
) -> list[Contestant]:
    """Those that can run at this place. What cannot is said."""
    natives = mpis.find(named)

    def wanted(key: str) -> bool:
        return not only or any(fnmatch(key, pattern) for pattern in only)

    found = _ours(place, natives, folder, wanted)
    if place.lab and place.open:
        found += _over_both(natives, wanted, say)
    if place.name == LOOPBACK:
        found += _natively_inside(natives[:1], wanted)
    return found


def _ours(
    place: Place, natives: Sequence[Mpi], folder: Path, wanted: Callable[[str], bool]
) -> list[Contestant]:
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
        file.write_text(gridfile.write(grid))
        command = [*_ISTHMUS, "run", "-g", str(file)]
        for i, end in enumerate(place.ends):
            program = prepare(mpis.mpicc_at(end, natives), end.compile_on, SOURCE)
            command += [":"] * i + ["--on", end.cluster, "-n", str(ranks[i]), program]
        made.append(Contestant(key, label, tuple(command), inside=ranks != (1, 1)))
    return made


def _over_both(
    natives: Sequence[Mpi], wanted: Callable[[str], bool], say: Callable[[str], None]
) -> list[Contestant]:
    """One native job over both sites of a lab."""
    made = []
    for mpi in natives:
        for tuning, settings in tunings(mpi).items():
            key, label = f"native-{mpi.key}-{tuning}", f"{mpi.label}, {tuning}"
            if not wanted(key):
                continue
            try:
                program = prepare(mpi.mpicc, None, SOURCE)
            except IsthmusError as error:
                say(f"{label} is left out: {error}")
                continue
            command = [*_ISTHMUS, "lab", "mpirun", "--interleave", "--mpi", mpi.name, "-n", "2"]
            command += ["env", *(f"{name}={value}" for name, value in settings.items()), program]
            made.append(Contestant(key, label, tuple(command)))
    return made


def _natively_inside(natives: Sequence[Mpi], wanted: Callable[[str], bool]) -> list[Contestant]:
    made = []
    for mpi in natives:
        key = f"{NATIVE_INSIDE}{mpi.key}"
        if not wanted(key):
            continue
        launcher = f"{Path(mpi.mpicc).parent}/{Path(mpi.mpicc).name.replace('mpicc', 'mpirun')}"
        command = (launcher, "-n", "2", prepare(mpi.mpicc, None, SOURCE))
        made.append(Contestant(key, mpi.label, command, inside=True, environment=_AS_ROOT))
    return made
