"""The contestants of `isthmus bench rma`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.base.errors import IsthmusError
from isthmus_lab.bench import mpis
from isthmus_lab.bench.contestants import tunings
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.bench.rma.results import run_from_json
from isthmus_lab.bench.timed_program import ISTHMUS, Contestant, Program, natively_inside, ours
from isthmus_lab.bench.wanted import Wanted
from isthmus_lab.measuring.place import LOOPBACK, Place

PROGRAM = Program(Path(__file__).with_name("rma.c"), run_from_json)


def contestants(
    place: Place,
    named: Sequence[str],
    only: Sequence[str],
    folder: Path,
    say: Callable[[str], None],
) -> list[Contestant]:
    """The contestants that can run at this place; the others are reported."""
    natives = mpis.find(named)
    wanted = Wanted(only)

    found = ours(place, natives, folder, wanted, PROGRAM)
    if place.lab and place.open:
        found += _over_both(natives, wanted, say)
    if place.name == LOOPBACK:
        found += natively_inside(natives[:1], wanted, PROGRAM)
    wanted.check()
    return found


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
                words = PROGRAM.words(mpi.mpicc)
            except IsthmusError as error:
                say(f"{label} is left out: {error}")
                continue
            command = [*ISTHMUS, "lab", "mpirun", "--interleave", "--mpi", mpi.name, "-n", "2"]
            command += ["env", *(f"{name}={value}" for name, value in settings.items()), *words]
            made.append(Contestant(key, label, tuple(command), PROGRAM))
    return made
