"""Programs that lose a cluster and go on, by isthmus.h, in runs with --survive."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import mpis
import pytest

SURVIVE = Path(__file__).parent / "survive"
LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpiabi5"]
GRID = "".join(f"[cluster.{name}]\nslots = 2\n" for name in ("east", "west", "north"))


@pytest.fixture
def grid(grid_with) -> Path:
    return grid_with(GRID)


def survive(isthmus, grid: Path, cluster: str, program: Path, *words: object) -> str:
    """Returns the output of the program, whose cluster has failed."""
    done = isthmus.well("run", "--survive", "-g", grid, "-n", 6, program, *words, timeout=120)
    assert f'cluster "{cluster}" has failed: ' in done.stderr
    assert "2 clusters go on" in done.stderr
    return str(done.stdout)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("cluster", ["east", "west"])
def test_an_iteration_goes_on(isthmus, programs, grid, library: str, cluster: str) -> None:
    program = mpis.ALL[library].build(SURVIVE / "iterate.c", programs)
    out = survive(isthmus, grid, cluster, program, 200, cluster, 50, "signal")
    assert out == "4 of 6 ranks, 200 steps\n"


@pytest.mark.parametrize("how", ["status", "one"])
def test_a_cluster_fails_with_one_rank(isthmus, programs, grid, how: str) -> None:
    program = mpis.ALL["openmpi4"].build(SURVIVE / "iterate.c", programs)
    out = survive(isthmus, grid, "west", program, 200, "west", 50, how)
    assert out == "4 of 6 ranks, 200 steps\n"


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_revoked_communicators_are_shrunk_again_and_again(isthmus, programs, library: str) -> None:
    """Ranks of a cluster end their agreement at different times, so some already make the native
    communicator while others still throw messages of the revoked one away."""
    program = mpis.ALL[library].build(SURVIVE / "again.c", programs)
    done = isthmus("run", "--survive", "-n", 20, program, 40, timeout=120)
    assert (done.returncode, done.stdout) == (0, "40 rounds\n"), done.stderr


@pytest.mark.parametrize(
    ("at_once", "later"), [("west,south", ""), ("east", "south"), ("north", "east")]
)
@pytest.mark.parametrize("library", ["openmpi4", "mpich5"])
def test_two_clusters_fail(
    isthmus, programs, grid_with, library: str, at_once: str, later: str
) -> None:
    file = grid_with(GRID + "[cluster.south]\nslots = 2\n")
    program = mpis.ALL[library].build(SURVIVE / "iterate.c", programs)
    words = [program, 200, at_once, 50, "signal", *([later] if later else [])]
    done = isthmus("run", "--survive", "-g", file, "-n", 8, *words, timeout=120)
    assert (done.returncode, done.stdout) == (0, "4 of 8 ranks, 200 steps\n"), done.stderr
    assert "2 clusters go on" in done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_master_loses_workers(isthmus, programs, grid, library: str) -> None:
    program = mpis.ALL[library].build(SURVIVE / "workers.c", programs)
    out = survive(isthmus, grid, "west", program, 100, "west")
    assert out == "3 workers of 5, sum 328350\n"


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("cluster", ["east", "north"])
def test_agreements_outlive_their_coordinator(
    isthmus, programs, grid, library: str, cluster: str
) -> None:
    program = mpis.ALL[library].build(SURVIVE / "agree.c", programs)
    assert survive(isthmus, grid, cluster, program, cluster) == "4 ranks agree\n"


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("cluster", ["west", "north"])
def test_communicators_are_shrunk_meanwhile(
    isthmus, programs, grid, library: str, cluster: str
) -> None:
    program = mpis.ALL[library].build(SURVIVE / "ishrink.c", programs)
    grid.write_text(GRID.replace("slots = 2", "slots = 1"))
    done = isthmus("run", "--survive", "-g", grid, "-n", 3, program, cluster, timeout=120)
    assert (done.returncode, done.stdout) == (0, "2 go on\n"), done.stderr


def stays_whole(isthmus, programs, grid, *words: object) -> None:
    program = mpis.ALL["mpich4"].build(SURVIVE / "unmade.c", programs)
    grid.write_text("[cluster.east]\nslots = 2\n[cluster.west]\nslots = 1\n")
    done = isthmus("run", "--survive", "-g", grid, "-n", 3, program, *words, timeout=120)
    assert (done.returncode, done.stdout) == (0, "3 of 3\n"), done.stderr


def test_a_rank_alone_in_its_cluster_cannot_make_its_part(isthmus, programs, grid) -> None:
    stays_whole(isthmus, programs, grid)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the program changes code of x86-64")
def test_a_rank_alone_in_its_cluster_cannot_have_a_request(isthmus, programs, grid) -> None:
    library = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"
    symbols = subprocess.check_output(["nm", "-D", library], text=True)
    found = re.search(r"(\S+) T PMPI_Grequest_start", symbols)
    assert found
    stays_whole(isthmus, programs, grid, library, found[1])


@pytest.mark.parametrize("library", ["openmpi4", "mpich4", "mpich5"])
def test_a_file_loses_its_home(isthmus, programs, tmp_path, grid, library: str) -> None:
    program = mpis.ALL[library].build(SURVIVE / "home.c", programs)
    out = survive(isthmus, grid, "east", program, tmp_path / "file", "east")
    assert out == "an error\n" * 4


@pytest.mark.parametrize("library", LIBRARIES)
def test_processes_end_whose_parents_have_failed(
    isthmus, programs, tmp_path, grid, library: str
) -> None:
    """Else they would take themselves for a first world."""
    program = mpis.ALL[library].build(SURVIVE / "orphans.c", programs)
    assert survive(isthmus, grid, "west", program, "west", tmp_path / "begun") == "4 go on\n"


@pytest.mark.parametrize("library", ["openmpi4", "openmpi5", "mpich4"])
@pytest.mark.parametrize(
    ("name", "fails", "out"),
    [
        ("ulfm", "west", "4 of 6\n"),
        ("jump", 2, "4 go on\n"),
        ("respawn", 2, "6 ranks again\n"),
    ],
    ids=["calls", "jumps", "respawns"],
)
def test_programs_with_the_names_of_ulfm(
    isthmus, programs, grid, library: str, name: str, fails: object, out: str
) -> None:
    flags = isthmus("config", "--ulfm").stdout.split()
    program = mpis.ALL[library].build(SURVIVE / f"{name}.c", programs, flags)
    assert survive(isthmus, grid, "west", program, fails) == out


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_fortran_with_the_headers_of_ulfm(isthmus, programs, grid, library: str) -> None:
    include, folder = mpis.ROOT / "include", programs / "fortran"
    modules = folder / library / SURVIVE.relative_to(mpis.ROOT)
    flags = [f"-I{modules}", f"-I{include}/ulfm"]
    sources = [str(include / name) for name in ("isthmus.f90", "isthmus_ulfm.f90")]
    program = mpis.ALL[library].build(SURVIVE / "mpif.f", folder, flags + sources)
    assert survive(isthmus, grid, "west", program, "west") == "4 of 6\n"


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_fortran_with_the_names_of_ulfm(isthmus, programs, grid, library: str) -> None:
    folder = programs / "fortran"  # Open MPI 4 has a module mpi_ext of its own
    modules = ["-I", str(folder / library / SURVIVE.relative_to(mpis.ROOT))]
    program = mpis.ALL[library].build(SURVIVE / "ulfm.f90", folder, modules)
    assert survive(isthmus, grid, "west", program, "west") == "4 of 6\n"


@pytest.mark.parametrize(("library", "how"), [("openmpi5", "own"), ("mpich5", "module")])
def test_mpi4py_goes_on(isthmus, grid, library: str, how: str) -> None:
    words = [SURVIVE / "iterate.py", how, mpis.ROOT / "include", "west"]
    out = survive(isthmus, grid, "west", Path(mpis.ALL[library].python or ""), *words)
    assert out == "4 ranks, 60 steps\n"
