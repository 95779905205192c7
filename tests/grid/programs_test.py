"""Every program under tests/programs, over grids of two clusters, for every MPI library.

A program checks itself: it prints what is wrong and exits non-zero. A line `ranks: 2 3 5` in its
leading comment says on how many ranks it runs; 4 otherwise. One that `needs: sessions` does not
meet the library that has none.

Mixed pairs go by gateways, clusters of one library through shared memory.

Some run under a rank map as well, in which neighbours are in different clusters and rank 0 is not
in the first one. The program's name decides whether, and under which library or pair. One that
`needs: blocks`, each cluster's ranks in a row, does not.

A program normally runs on its first or its last number of ranks, with one library or mixed pair. So
every library and pair meets many programs in minutes. Which ones, the program's name says: a new
program changes nothing for the others. Each number meets all with --all-libraries.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import mpis
import pytest
from gpu_test import DRIVERS, built_driver

C_PROGRAMS = sorted(mpis.PROGRAMS.rglob("*.c"))
FORTRAN_PROGRAMS = sorted(mpis.PROGRAMS.rglob("*.f90"))
PYTHON_PROGRAMS = sorted(mpis.PROGRAMS.rglob("*.py"))

SINGLE, MIXED = mpis.SINGLE, mpis.MIXED
FORTRAN_PAIRS = [("openmpi4", "openmpi4"), ("mpich4", "mpich4"), ("mpich4", "openmpi4")]


def draw(words: str) -> int:
    return zlib.crc32(words.encode())


def runs(programs: list[Path], *, everything: bool = False) -> list[tuple[Path, int]]:
    def numbers(program: Path) -> list[int]:
        every = mpis.ranks_of(program)
        last = draw(f"ranks {program.relative_to(mpis.PROGRAMS)}") % 2
        return every if everything else [every[-last]]

    return [(program, ranks) for program in programs for ranks in numbers(program)]


def fits_a_map(program: Path) -> bool:
    return "needs: blocks" not in program.read_text()[:2000]


def fits(program: Path, pair: tuple[str, str]) -> bool:
    return not mpis.needs_sessions(program) or not {*pair} & mpis.WITHOUT_SESSIONS


# The libraries do so natively as well (2026-11).
NATIVE_BUGS = {
    ("intel2021", "comm/limit.c", 4): "MPI_Allreduce asserts where there are many communicators",
    ("intel2021", "file/views.c", 2): "distributed arrays in Fortran's order are packed wrongly",
    ("intel2021", "file/views.c", 3): "distributed arrays in Fortran's order are packed wrongly",
}


# Accesses span attached regions there, which those of a device may not.
NOT_ON_DEVICES = {"attached.c"}


# Folders of programs whose data crosses.
SURELY_CROSSING = {"coll", "p2p"}


def case(program: Path, ranks: int, pair: tuple[str, str]) -> object:
    name = program.relative_to(mpis.PROGRAMS)
    bugs = {bug for library in pair if (bug := NATIVE_BUGS.get((library, f"{name}", ranks)))}
    marks = [pytest.mark.xfail(strict=True, reason=bug) for bug in bugs]
    return pytest.param(program, ranks, pair, marks=marks, id=f"{name}-{ranks}-{'+'.join(pair)}")


def pairs_for(program: Path, ranks: int) -> list[tuple[str, str]]:
    number = draw(f"{program.relative_to(mpis.PROGRAMS)} {ranks}")
    single, mixed = ([pair for pair in pairs if fits(program, pair)] for pairs in (SINGLE, MIXED))
    of_one, of_two = single[number % len(single)], mixed[number % len(mixed)]
    return [
        of_one if (mpis.ranks_of(program).index(ranks) + len(program.name)) % 2 == 0 else of_two
    ]


def fortran_pair_for(program: Path) -> tuple[str, str]:
    number = draw(f"fortran {program.relative_to(mpis.PROGRAMS)}")
    return FORTRAN_PAIRS[number % len(FORTRAN_PAIRS)]


def mapped_pairs_for(program: Path, ranks: int) -> list[tuple[str, str]]:
    """Chooses a fourth of the programs, with the library or pair of test_c."""
    number = draw(f"map {program.relative_to(mpis.PROGRAMS)}")
    return pairs_for(program, ranks) if number % 4 == 0 and ranks > 1 else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everything = metafunc.config.getoption("--all-libraries")
    if metafunc.function is test_fortran:
        every = [
            case(program, ranks, pair)
            for program, ranks in runs(FORTRAN_PROGRAMS, everything=everything)
            for pair in (FORTRAN_PAIRS if everything else [fortran_pair_for(program)])
        ]
        metafunc.parametrize(("program", "ranks", "pair"), every)
    if metafunc.function not in (test_c, test_c_on_a_map, test_c_on_devices):
        return
    mapped = metafunc.function is test_c_on_a_map
    chosen = [
        case(program, ranks, pair)
        for program, ranks in runs(C_PROGRAMS, everything=everything)
        for pair in (
            SINGLE + MIXED
            if everything
            else mapped_pairs_for(program, ranks)
            if mapped or metafunc.function is test_c_on_devices
            else pairs_for(program, ranks)
        )
        if fits(program, pair)
        and (not mapped or fits_a_map(program))
        and (metafunc.function is not test_c_on_devices or program.name not in NOT_ON_DEVICES)
    ]
    metafunc.parametrize(("program", "ranks", "pair"), chosen)


def pairs_met(kind: str = "") -> set[tuple[str, str]]:
    return {
        pair
        for program, ranks in runs(C_PROGRAMS)
        if kind in ("", program.relative_to(mpis.PROGRAMS).parts[0])
        for pair in pairs_for(program, ranks)
    }


def test_every_pair_meets_programs():
    assert pairs_met() == {*SINGLE, *MIXED}


@pytest.mark.parametrize("kind", ["coll", "comm", "p2p", "rma"])
def test_every_library_meets_programs_of_every_kind(kind):
    assert {library for pair in pairs_met(kind) for library in pair} == {*mpis.TESTED}


@pytest.fixture(autouse=True)
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mixed pairs go by gateways, clusters of one library through shared memory."""
    pair = getattr(request.node, "callspec", None) and request.node.callspec.params.get("pair")
    if pair and pair[0] != pair[1]:
        monkeypatch.setenv("ISTHMUS_REACH", "gateway")


def run_on_both(isthmus, programs: Path, program: Path, ranks: int, pair: tuple[str, str]) -> None:
    east, west = (mpis.ALL[name].build(program, programs) for name in pair)
    n_west = ranks // 2
    if pair[0] == pair[1]:
        words = ["-n", ranks, east]
    else:
        words = mpis.on(east=(ranks - n_west, east), west=(n_west, west))
    isthmus.well("run", *words)


def test_c(isthmus, programs, program, ranks, pair):
    run_on_both(isthmus, programs, program, ranks, pair)


def test_c_on_a_map(isthmus, programs, tmp_path, program, ranks, pair):
    east, west = (mpis.ALL[name].build(program, programs) for name in pair)
    grid, ranks_of_all = tmp_path / "grid.toml", tmp_path / "ranks"
    grid.write_text(f"[cluster.east]\nprogram = '{east}'\n[cluster.west]\nprogram = '{west}'\n")
    ranks_of_all.write_text(f"0-{ranks - 1}:2 west\n1-{ranks - 1}:2 east\n")
    isthmus.well("run", "-g", grid, "--map", ranks_of_all, east)


@pytest.fixture(scope="session")
def on_devices(programs: Path) -> Path:
    """The folder of programs whose memory all counts as a GPU's."""
    folder = programs / "device"
    own = folder / f"{os.getpid()}"  # other workers make it, too
    own.mkdir(parents=True)
    built_driver("cuda", own, "-DEVERYWHERE").replace(folder / DRIVERS["cuda"])
    own.rmdir()
    return folder


def test_c_on_devices(isthmus, on_devices, tmp_path, monkeypatch, program, ranks, pair):
    """Between clusters, all data is staged. The programs of gpu_test.py show that no instruction
    touches the memory of a GPU."""
    told = tmp_path / "told"
    monkeypatch.setenv("DRIVER_TELLS", f"{told}")
    driver = on_devices / DRIVERS["cuda"]
    flags = ["-Wl,--no-as-needed", driver, f"-Wl,--disable-new-dtags,-rpath,{on_devices}"]
    for name in pair:
        mpis.ALL[name].build(program, on_devices, flags)
    run_on_both(isthmus, on_devices, program, ranks, pair)
    assert told.exists() or program.parent.name not in SURELY_CROSSING


def test_fortran(isthmus, programs, program, ranks, pair):
    run_on_both(isthmus, programs, program, ranks, pair)


@pytest.mark.parametrize("library", mpis.pythons())
@pytest.mark.parametrize(
    ("program", "ranks"),
    [
        pytest.param(*run, id=f"{run[0].relative_to(mpis.PROGRAMS)}-{run[1]}")
        for run in runs(PYTHON_PROGRAMS)
    ],
)
def test_mpi4py(isthmus, programs, library, program, ranks):
    isthmus.well("run", "-n", ranks, mpis.ALL[library].python, program)
