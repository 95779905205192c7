"""One world of an x86-64 cluster and one with another processor, each with its own MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import ran
from two_machines import prefix_of

from isthmus.version import VERSION

TESTS = Path(__file__).parents[1]
HOST = TESTS.parent / "tools" / "foreign_host"
MIXED = TESTS / "grid" / "mixed"
EVERY_MPI = pytest.mark.parametrize("mpi", ["mpich", "openmpi"])


def test_the_agent_starts_there(processor) -> None:
    done = ran([HOST, processor, prefix_of(processor) / "bin/isthmusd", "--version"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"isthmusd {VERSION}")


@EVERY_MPI
def test_hello(two_machines, processor, mpi) -> None:
    done = two_machines.run_on_both(Path(__file__).with_name("hello.c"), mpi)
    assert sorted(done.stdout.splitlines()) == [
        "rank 0 of 4: x86_64",
        "rank 1 of 4: x86_64",
        f"rank 2 of 4: {processor}",
        f"rank 3 of 4: {processor}",
        "the token came back with 10",
    ]


@pytest.mark.parametrize("program", ["p2p/datatypes.c", "p2p/modes.c", "p2p/wildcards.c"])
def test_programs(two_machines, processor, program) -> None:
    if processor == "s390x" and "datatypes" in program:
        pytest.skip("it compares the bytes of numbers")
    two_machines.run_on_both(TESTS / "programs" / program, "mpich")


@EVERY_MPI
@pytest.mark.parametrize("kind", ["messages", "collectives", "windows", "files"])
def test_every_kind_of_data_passes(two_machines, mpi, kind) -> None:
    two_machines.run_on_both(MIXED / f"{kind}.c", mpi)


@EVERY_MPI
def test_every_call_takes_long_double(two_machines, mpi) -> None:
    two_machines.run_on_both(MIXED / "long_double.c", mpi)
