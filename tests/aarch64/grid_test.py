"""One world of an x86-64 and an AArch64 cluster, each with its own MPI."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import PREFIX

from isthmus.version import VERSION

TESTS = Path(__file__).parents[1]
HOST = TESTS.parent / "tools" / "aarch64_host"
EVERY_MPI = pytest.mark.parametrize("mpi", ["mpich", "openmpi"])


def test_the_agent_starts_there() -> None:
    done = subprocess.run(
        [HOST, PREFIX / "bin/isthmusd", "--version"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"isthmusd {VERSION}")


@EVERY_MPI
def test_hello(two_machines, mpi) -> None:
    done = two_machines.run_on_both(Path(__file__).with_name("hello.c"), mpi)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "rank 0 of 4: x86_64",
        "rank 1 of 4: x86_64",
        "rank 2 of 4: aarch64",
        "rank 3 of 4: aarch64",
        "the token came back with 10",
    ]


@pytest.mark.parametrize("program", ["p2p/datatypes.c", "p2p/wildcards.c"])
def test_programs(two_machines, program) -> None:
    done = two_machines.run_on_both(TESTS / "programs" / program, "mpich")
    assert done.returncode == 0, done.stdout + done.stderr


@EVERY_MPI
def test_long_double_alone_is_refused(two_machines, mpi) -> None:
    source = TESTS / "grid" / "mixed" / "long_double.c"
    done = two_machines.run_on_both(source, mpi, "x86_64", "aarch64")
    assert done.returncode == 0, done.stdout + done.stderr
