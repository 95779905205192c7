"""Clusters of different machines. Here one cluster only claims to be different, and its ranks and
the launcher behave the same. tests/foreign has one that really is."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest

from isthmus.install import find_isthmusd

MIXED = Path(__file__).parent / "mixed"
SOURCE = MIXED / "long_double.c"
PAIRS = [("openmpi4", "mpich4"), ("mpich5", "openmpi5"), ("mpiabi5", "mpiabi5")]
AARCH64 = ("x86_64,aarch64", "64/16,113/16")
POWER = ("x86_64,ppc64le", "64/16,106/16")  # its long double is a format that Isthmus does not know
S390X = ("x86_64,s390x", "little,big", "64/16,113/16")
LONGS = ('"long":8,"long":4',)
# Other libraries' own packing would cut numbers that are binary128 to the 10 bytes of x86's.
CLAIMING = [("mpich4", "openmpi4"), ("openmpi5", "openmpi4")]
KINDS = ["messages", "collectives", "windows", "files"]


def grid_file(folder: Path, changes: tuple[str, ...]) -> Path:
    """Two clusters. West's isthmusd is the real one, but for `changes` of its first line."""
    (folder / "west" / "bin").mkdir(parents=True)
    program = folder / "west" / "bin" / "isthmusd"
    edits = " ".join(f"-e '1s,{change},'" for change in changes)
    program.write_text(f'#!/bin/sh\n"{find_isthmusd()}" "$@" | sed -u {edits}\n')
    program.chmod(0o755)
    grid = folder / "grid.toml"
    grid.write_text(f'[cluster.east]\n[cluster.west]\nprefix = "{folder}/west"\n')
    return grid


def words(
    programs: Path, pair: tuple[str, str], *arguments: str, source: Path = SOURCE, claim: str = ""
) -> list[object]:
    """`claim`: an argument of west's processes."""
    east, west = (mpis.ALL[name].build(source, programs) for name in pair)
    return mpis.on(east=(2, east, *arguments), west=(2, west, *arguments, *claim.split()))


@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_a_long_double_of_unknown_format_is_refused(
    isthmus, programs: Path, tmp_path: Path, pair
) -> None:
    grid = grid_file(tmp_path, POWER)
    isthmus.well("run", "-g", grid, *words(programs, pair, "x86_64", "ppc64le"))


@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_long_double_passes_between_alike(isthmus, programs: Path, pair) -> None:
    isthmus.well("run", *words(programs, pair))


@pytest.mark.parametrize("pair", CLAIMING, ids="+".join)
@pytest.mark.parametrize("kind", KINDS)
def test_long_double_is_converted(isthmus, programs: Path, tmp_path: Path, kind, pair) -> None:
    grid = grid_file(tmp_path, AARCH64)
    command = words(programs, pair, source=MIXED / f"{kind}.c", claim="little")
    isthmus.well("run", "-g", grid, *command, cwd=tmp_path)


def test_the_error_is_fatal_unless_the_program_asks_otherwise(isthmus, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import mpi4py\nmpi4py.rc.errors = 'fatal'\nfrom mpi4py import MPI\n"
        "MPI.COMM_WORLD.Bcast([bytearray(16), MPI.LONG_DOUBLE])\n"
    )
    grid = grid_file(tmp_path, POWER)
    done = isthmus("run", "-g", grid, "-n", 2, mpis.ALL["mpich5"].python, program)
    assert done.returncode != 0
    assert (
        "MPI_LONG_DOUBLE has one format in cluster east (x86_64) and another in cluster west "
        "(ppc64le), and Isthmus does not know both, so it cannot pass between them; use MPI_DOUBLE"
        in done.stderr
    )


THREE = """
from mpi4py import MPI
world = MPI.COMM_WORLD
data = [bytearray(b"x" * 16 if world.rank == 0 else 16), MPI.LONG_DOUBLE]
alike = world.Split(world.rank == 2, world.rank)
if world.rank < 2:
    alike.Bcast(data)
    assert data[0] == b"x" * 16
if world.rank == 0:
    world.Send(data, 1)
    try:
        world.Send(data, 2)
    except MPI.Exception as error:
        print(error.Get_error_class() == MPI.ERR_TYPE, error)
elif world.rank == 1:
    world.Recv(data, 0)
"""


def test_clusters_that_are_alike_exchange_it_beside_one_that_is_not(
    isthmus, tmp_path: Path
) -> None:
    program = tmp_path / "three.py"
    program.write_text(THREE)
    grid = grid_file(tmp_path, POWER)
    grid.write_text("[cluster.first]\n" + grid.read_text())
    done = isthmus.well("run", "-g", grid, "-n", 3, mpis.ALL["mpich5"].python, program)
    assert done.stdout.startswith("True "), done.stdout
    assert "cluster first (x86_64) and another in cluster west (ppc64le)" in done.stdout


@pytest.mark.parametrize("pair", CLAIMING, ids="+".join)
@pytest.mark.parametrize("kind", KINDS)
def test_every_number_is_converted(isthmus, programs: Path, tmp_path: Path, kind, pair) -> None:
    grid = grid_file(tmp_path, S390X)
    command = words(programs, pair, source=MIXED / f"{kind}.c", claim="big")
    isthmus.well("run", "-g", grid, *command, cwd=tmp_path)


def test_sizes_of_long_that_differ(isthmus, tmp_path: Path) -> None:
    grid = grid_file(tmp_path, LONGS)
    done = isthmus("run", "-g", grid, "-n", 2, "true")
    assert done.returncode == 1
    assert "the size of long is 8 in cluster east and 4 in cluster west" in done.stderr


def test_doctor_tells_of_it(isthmus, tmp_path: Path) -> None:
    for changes, levels in ((AARCH64, ["ok"]), (POWER, ["warn"]), (S390X, ["ok", "ok"])):
        grid = grid_file(tmp_path / changes[0], changes)
        done = isthmus("doctor", "-g", grid, "--json")
        findings = [f for f in json.loads(done.stdout)["findings"] if f["what"] == "machine"]
        assert [f["level"] for f in findings] == levels, findings
        assert "long double" in findings[-1]["text"]
