"""Programs of what the standard's younger chapters make, over grids that are not two clusters.

One cluster is a native job: the program's parts that a native library does wrongly stay out there.
A few of each shape run normally, and all with --all-libraries.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import mpis
import pytest

ROOMS = ("inter", "sessions", "topology", "topology_api")
PROGRAMS = sorted(
    [
        *chain.from_iterable((mpis.PROGRAMS / room).glob("*.c") for room in ROOMS),
        *(mpis.PROGRAMS / "p2p").glob("partitioned*.c"),
    ]
)
# Isthmus finds more wrong calls than native libraries do.
OF_ERRORS = [program for program in PROGRAMS if "errors" in program.name]
# Natively Open MPI's MPI_Comm_create on intercommunicators ignores the group's order, and MPICH
# loses an MPI_Ibcast there, or hangs in a barrier.
NATIVELY_WRONG = [mpis.PROGRAMS / "inter" / name for name in ("making.c", "collectives.c")]
OF_TWO_RANKS = [program for program in PROGRAMS if mpis.ranks_of(program) == [2]]


@dataclass(frozen=True)
class Shape:
    """Ranks of each cluster, and the libraries they have: one for all, or each its own."""

    ranks: tuple[int, ...]
    libraries: tuple[tuple[str, ...], ...]
    by_default: tuple[str, ...]  # these programs, with the first libraries
    not_of: list[Path]


SHAPES = {
    "one": Shape(
        (4,),
        tuple((name,) for name in ("mpich5", "openmpi5", "mpich4", "openmpi4", "mpiabi5")),
        ("sessions/alone.c", "topology/neighbor.c", "topology_api/from_c.c"),
        [*OF_ERRORS, *OF_TWO_RANKS, *NATIVELY_WRONG],
    ),
    "three": Shape(
        (3, 1, 2),
        (("openmpi5", "mpich5", "mpich4"), ("mpich5", "openmpi4", "mpiabi5")),
        ("inter/making.c", "p2p/partitioned.c", "sessions/alone.c", "topology/graph.c"),
        OF_TWO_RANKS,
    ),
    "eight": Shape(
        (2,) * 8,
        (("mpich5",) * 8, ("openmpi5",) * 8),
        ("sessions/alone.c",),
        OF_TWO_RANKS,
    ),
}


def cases(everything: bool) -> list[object]:
    found = []
    for name, shape in SHAPES.items():
        for program in PROGRAMS:
            short = str(program.relative_to(mpis.PROGRAMS))
            chosen = shape.libraries if everything else shape.libraries[: short in shape.by_default]
            if program in shape.not_of:
                continue
            found += [
                pytest.param(program, shape, libraries, id=f"{short}-{name}-{libraries[0]}")
                for libraries in chosen
                if not (mpis.needs_sessions(program) and {*libraries} & mpis.WITHOUT_SESSIONS)
            ]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everything = metafunc.config.getoption("--all-libraries")
    metafunc.parametrize(("program", "shape", "libraries"), cases(everything))


def test_program(isthmus, programs: Path, grid_with, program: Path, shape, libraries) -> None:
    names = [f"c{number}" for number in range(1, len(shape.ranks) + 1)]
    grid = grid_with("".join(f"[cluster.{name}]\n" for name in names))
    parts = {
        name: (ranks, mpis.ALL[library].build(program, programs))
        for name, ranks, library in zip(names, shape.ranks, libraries, strict=True)
    }
    isthmus.well("run", "-g", grid, *mpis.on(**parts))
