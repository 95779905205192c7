"""Programs that run from a wheel, in a fresh environment outside the checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from wheels import ROOT, Isthmus

COMPILERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
LIBRARY = {"openmpi": "Open MPI v4.1", "mpich": "MPICH"}
PROGRAMS = ["p2p/datatypes.c", "p2p/wildcards.c"]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory):
    """build(SOURCE, MPI) compiles a program, by the compilers of this system."""
    folder = tmp_path_factory.mktemp("compiled")

    def compile_(source: Path, mpi: str) -> Path:
        program = folder / f"{source.stem}.{mpi}"
        if not program.exists():
            command = [COMPILERS[mpi], "-O1", "-pthread", source, "-o", program, "-lm"]
            subprocess.run(command, check=True, capture_output=True)
        return program

    return compile_


@pytest.fixture
def demo(build):
    return lambda mpi: build(ROOT / "examples" / "isthmus_demo.c", mpi)


def test_the_version(command: Isthmus, whole: Path) -> None:
    done = command(whole, "--version")
    agent = subprocess.run(
        [whole / "bin/isthmusd", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[1:] == agent.stdout.split()[1:]
    assert "unknown" not in done.stdout


@pytest.mark.parametrize("mpi", COMPILERS)
def test_one_library(command: Isthmus, whole: Path, demo, mpi: str) -> None:
    done = command(whole, "run", "-n", 4, demo(mpi))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(f"over {LIBRARY[mpi]}") == 4, done.stdout
    assert "rank 3 of 4: cluster west" in done.stdout


def test_both_libraries_in_one_world(command: Isthmus, whole: Path, demo) -> None:
    done = command(
        whole, "run", "--on", "east", "-n", 2, demo("openmpi"),
        ":", "--on", "west", "-n", 2, demo("mpich"),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("over Open MPI v4.1") == 2, done.stdout
    assert done.stdout.count("over MPICH") == 2, done.stdout


@pytest.mark.parametrize("source", PROGRAMS)
def test_programs(command: Isthmus, whole: Path, build, source: str) -> None:
    file = ROOT / "tests" / "programs" / source
    done = command(
        whole, "run", "--on", "east", "-n", 2, build(file, "openmpi"),
        ":", "--on", "west", "-n", 2, build(file, "mpich"),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mpi", COMPILERS)
def test_mpi4py_of_a_newer_library(command: Isthmus, whole: Path, mpi: str) -> None:
    """Open MPI 5 and MPICH 5, from PyPI."""
    python = ROOT / ".venv" / mpi / "bin" / "python"
    assert python.exists(), "`make setup` installs it"
    text = "from mpi4py.MPI import COMM_WORLD as w; print(w.allreduce(w.rank), flush=True)"
    done = command(whole, "run", "-n", 4, python, "-c", text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["6"] * 4
