"""Every program under tests/programs, over grids of two clusters, for every MPI library.

A program checks itself: it prints what is wrong and exits non-zero. A line `ranks: 2 3 5` in its
leading comment says on how many ranks it runs; 4 otherwise.
"""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest

C_PROGRAMS = sorted(mpis.PROGRAMS.rglob("*.c"))
FORTRAN_PROGRAMS = sorted(mpis.PROGRAMS.rglob("*.f90"))
PYTHON_PROGRAMS = sorted(mpis.PROGRAMS.rglob("*.py"))


def ranks_of(program: Path) -> list[int]:
    found = re.search(r"ranks: ([\d ]+)", program.read_text()[:2000])
    return [int(n) for n in found.group(1).split()] if found else [4]


def cases(programs: list[Path]) -> list[object]:
    return [
        pytest.param(program, n, id=f"{program.relative_to(mpis.PROGRAMS)}-{n}")
        for program in programs
        for n in ranks_of(program)
    ]


def expect_success(done) -> None:
    assert done.returncode == 0, (
        f"exit status {done.returncode}\n--- stdout\n{done.stdout[-4000:]}"
        f"\n--- stderr\n{done.stderr[-4000:]}"
    )


@pytest.mark.parametrize("library", mpis.ALL)
@pytest.mark.parametrize(("program", "ranks"), cases(C_PROGRAMS))
def test_c(isthmus, programs, library, program, ranks):
    binary = mpis.ALL[library].build(program, programs)
    expect_success(isthmus("run", "-n", ranks, binary))


@pytest.mark.parametrize(
    "pair", [("openmpi4", "mpich4"), ("mpich5", "openmpi5"), ("mpiabi5", "openmpi4")], ids="-".join
)
@pytest.mark.parametrize(("program", "ranks"), cases(C_PROGRAMS))
def test_c_mixed(isthmus, programs, pair, program, ranks):
    east, west = (mpis.ALL[name].build(program, programs) for name in pair)
    n_west = ranks // 2
    expect_success(
        isthmus(
            "run",
            "--on",
            "east",
            "-n",
            ranks - n_west,
            east,
            ":",
            "--on",
            "west",
            "-n",
            n_west,
            west,
        )
    )


@pytest.mark.parametrize(
    "pair", [("openmpi4", "openmpi4"), ("mpich4", "mpich4"), ("mpich4", "openmpi4")], ids="-".join
)
@pytest.mark.parametrize(("program", "ranks"), cases(FORTRAN_PROGRAMS))
def test_fortran(isthmus, programs, pair, program, ranks):
    east, west = (mpis.ALL[name].build(program, programs) for name in pair)
    expect_success(
        isthmus(
            "run",
            "--on",
            "east",
            "-n",
            ranks - ranks // 2,
            east,
            ":",
            "--on",
            "west",
            "-n",
            ranks // 2,
            west,
        )
    )


@pytest.mark.parametrize("library", [m.name for m in mpis.ALL.values() if m.python])
@pytest.mark.parametrize(("program", "ranks"), cases(PYTHON_PROGRAMS))
def test_mpi4py(isthmus, programs, library, program, ranks):
    expect_success(isthmus("run", "-n", ranks, mpis.ALL[library].python, program))
