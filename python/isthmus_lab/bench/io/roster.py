"""The contestants of `isthmus bench io`."""

from collections.abc import Sequence
from pathlib import Path

from isthmus_lab.bench import mpis
from isthmus_lab.bench.io.results import run_from_json
from isthmus_lab.bench.timed_program import Contestant, Program, natively_inside, ours
from isthmus_lab.bench.wanted import Wanted
from isthmus_lab.measuring.place import LOOPBACK, Place

SOURCE = Path(__file__).with_name("io.c")


def contestants(
    place: Place, named: Sequence[str], only: Sequence[str], files: str, folder: Path
) -> list[Contestant]:
    """The contestants that can run at this place; `files` is the file's place in the first
    cluster."""
    natives = mpis.find(named)
    program = Program(SOURCE, run_from_json, (files,))
    wanted = Wanted(only)

    found = ours(place, natives, folder, wanted, program)
    if place.name == LOOPBACK:
        found += natively_inside(natives[:1], wanted, program)
    wanted.check()
    return found
