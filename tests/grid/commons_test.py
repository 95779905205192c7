"""Collectives of few bytes among processes of one host go by memory that all of them share."""

from __future__ import annotations

import re
import signal
from collections import Counter
from pathlib import Path

import mpis
import pytest
from refused_calls import refused
from running import shell_script

ROUNDS = 40

ALL_KINDS = f"""
import sys
import numpy
from mpi4py import MPI
def check(comm):
    n, me = comm.size, comm.rank
    for i in range({ROUNDS}):
        root, count = i % n, (1, 100, 1500, 30_000)[i % 4]
        comm.Barrier()
        data = numpy.full(count, i if me == root else -1)
        comm.Bcast(data, root)
        assert (data == i).all()
        mine, every = numpy.full(count, me + i), numpy.empty(count * n, int)
        comm.Allgather(mine, every)
        assert (every.reshape(n, count) == (numpy.arange(n) + i)[:, None]).all()
        every[:] = 0
        comm.Gather(mine, every, root)
        assert me != root or (every.reshape(n, count) == (numpy.arange(n) + i)[:, None]).all()
        sent = (numpy.arange(n)[:, None] + 100 * me + i + numpy.zeros(count, int)).ravel()
        got = numpy.empty_like(sent)
        comm.Alltoall(sent, got)
        want = 100 * numpy.arange(n) + me + i
        assert (got.reshape(n, count) == want[:, None]).all()
        comm.Scatter(sent, mine, root)
        assert (mine == 100 * root + me + i).all()
        mine[:] = me + i
        for op, total in ((MPI.SUM, n * (n - 1) // 2 + n * i), (MPI.MAX, n - 1 + i)):
            comm.Allreduce(mine, data, op)
            assert (data == total).all()
            data[:] = 0
            comm.Reduce(mine, data, op, root)
            assert me != root or (data == total).all()
        comm.Scan(mine, data)
        assert (data == me * (me + 1) // 2 + (me + 1) * i).all()
        comm.Exscan(mine, data)
        assert me == 0 or (data == me * (me - 1) // 2 + me * i).all()
        part = numpy.empty(count, int)
        comm.Reduce_scatter_block(sent, part)
        assert (part == 100 * n * (n - 1) // 2 + n * (me + i)).all()
        counts = [(r + me + i) % 5 * count for r in range(n)]
        there = [(me + r + i) % 5 * count for r in range(n)]
        sent, got = numpy.full(sum(counts), me), numpy.empty(sum(there), int)
        comm.Alltoallv([sent, counts], [got, there])
        assert (got == numpy.repeat(numpy.arange(n), there)).all()
        request = comm.Iallreduce(mine, data)
        request.Wait()
        assert (data == n * (n - 1) // 2 + n * i).all()
check(MPI.COMM_WORLD)
some = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2, -MPI.COMM_WORLD.rank)
check(some)
some.Free()
"""


def chosen(stats: str) -> dict[str, Counter[str]]:
    """Calls of each algorithm, by collective, of --stats."""
    calls: dict[str, Counter[str]] = {}
    for kind, name, number in re.findall(r"^(\w+) +([\w-]+) +(\d+) +\d+$", stats, re.M):
        calls.setdefault(kind, Counter())[name] += int(number)
    return calls


def of_each(program: Path, pythons: dict[str, object], ranks: int) -> list[object]:
    return mpis.on(**{cluster: (ranks, python, program) for cluster, python in pythons.items()})


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("pair", [("openmpi5", "openmpi5"), ("mpich5", "openmpi5")])
def test_all_kinds(isthmus, tmp_path: Path, pair, ranks: int) -> None:
    program = tmp_path / "kinds.py"
    program.write_text(ALL_KINDS)
    pythons = {c: mpis.ALL[m].python for c, m in zip(("east", "west"), pair, strict=True)}
    done = isthmus.well("run", "--stats", *of_each(program, pythons, ranks))
    calls = chosen(done.stderr)
    kinds = "barrier bcast gather scatter allgather alltoall reduce allreduce reduce_scatter"
    for kind in (*kinds.split(), "scan", "exscan"):
        assert calls[kind]["commons"] >= ROUNDS // 4, calls


def test_other_algorithms_serve_where_memory_cannot_be_shared(isthmus, tmp_path: Path) -> None:
    kinds = tmp_path / "kinds.py"
    kinds.write_text(ALL_KINDS)
    python = mpis.ALL["openmpi5"].python
    inside = f'exec unshare --pid --fork --mount-proc "{python}" "$@"'
    hidden = shell_script(tmp_path / "hidden", inside)  # from the other rank, as in a container
    for east, west in ((hidden, python), (python, hidden)):
        done = isthmus.well("run", "--stats", *of_each(kinds, {"east": east, "west": west}, 1))
        assert not any(calls["commons"] for calls in chosen(done.stderr).values()), done.stderr

    denied = tmp_path / "denied.py"
    denied.write_text(refused(319, 279) + ALL_KINDS)  # memfd_create
    done = isthmus.well("run", "--stats", *of_each(denied, {"east": python, "west": python}, 1))
    assert not any(calls["commons"] for calls in chosen(done.stderr).values()), done.stderr


DISAGREE = """
from mpi4py import MPI
import numpy
world = MPI.COMM_WORLD
for _ in range(10):
    world.Barrier()
world.Set_errhandler(MPI.ERRORS_RETURN)
data = numpy.zeros(4 + (world.rank == 1), int)
try:
    world.Bcast(data, 0)
    assert world.rank != 1
except MPI.Exception as error:
    assert world.rank == 1 and error.Get_error_class() == MPI.ERR_TRUNCATE, error
    assert "40 bytes here, 32 at rank 0" in str(error), error
assert world.allreduce(world.rank) == world.size * (world.size - 1) // 2
"""


def test_sizes_that_differ_are_told_and_the_communicator_goes_on(isthmus, tmp_path: Path) -> None:
    program = tmp_path / "disagree.py"
    program.write_text(DISAGREE)
    python = mpis.ALL["openmpi5"].python
    isthmus.well("run", *of_each(program, {"east": python, "west": python}, 2))


LATE = """
import os, platform, signal, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
for _ in range(10):
    world.Barrier()
waiting = world.bcast(os.getpid(), 0)
if world.rank == 1:
    futex, shared = {"x86_64": "202", "aarch64": "98"}[platform.machine()], 0
    while True:
        call = open(f"/proc/{waiting}/task/{waiting}/syscall").read().split()
        if call[0] == futex and int(call[2], 16) == shared:
            break
    if sys.argv[1] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
world.Barrier()
"""


@pytest.mark.parametrize("then", ["comes", "dies"])
def test_who_waits_long_sleeps_in_that_memory(isthmus, tmp_path: Path, then: str) -> None:
    program = tmp_path / "late.py"
    program.write_text(LATE)
    python = mpis.ALL["openmpi5"].python
    part = (1, python, program, then)
    done = isthmus("run", *mpis.on(east=part, west=part))
    if then == "comes":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 128 + signal.SIGKILL, done.stderr
        assert "rank 1" in done.stderr
