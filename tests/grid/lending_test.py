"""Processes of two clusters on one host read each other's large messages where these are."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from refused_calls import refused

ROUNDS, BYTES = 40, 300_000

TALK = f"""
import array
from mpi4py import MPI
world = MPI.COMM_WORLD
other = 1 - world.rank
sent, got = array.array("i", [0]) * ({BYTES} // 4), array.array("i", [0]) * ({BYTES} // 4)
short, beside = array.array("i", [0]) * 1000, array.array("i", [0]) * 4000
column = MPI.INT.Create_vector({BYTES} // 8, 1, 2).Commit()
def fill(i):
    for at in (0, 999, len(sent) - 2):
        sent[at] = i * 1000 + at + world.rank
def check(i, ats):
    assert all(got[at] == i * 1000 + at + other for at in ats)
for i in range({ROUNDS}):
    fill(i)
    if i % 2:  # expected, or not
        world.Sendrecv(sent, other, i, got, other, i)
    else:
        request = world.Isend(sent, other, i)
        assert world.Sendrecv(beside, other, 5000, beside, other, 5000) is None
        world.Recv(got, other, i)
        request.Wait()
    check(i, (0, 999, len(sent) - 2))
world.Sendrecv([sent, 1, column], other, 1, [got, 1, column], other, 1)
check({ROUNDS} - 1, (0, len(sent) - 2))
request = world.Isend(sent, other, 2)
world.Set_errhandler(MPI.ERRORS_RETURN)
try:
    world.Recv(short, other, 2)
    raise SystemExit("no error")
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_TRUNCATE, error
request.Wait()
assert short[999] == ({ROUNDS} - 1) * 1000 + 999 + other
cancelled = world.Irecv(got, other, 7)
cancelled.Cancel()
status = MPI.Status()
cancelled.Wait(status)
assert status.Is_cancelled()
"""

DENIED = refused(310, 270)  # process_vm_readv


def wire(stats: str) -> dict[str, int]:
    """Bytes in the rings between processes, by the receivers' cluster, by --stats."""
    row = r"│ \w+ -> (\w+), memory \(\d+\) +│ +\d+ │ +\d+ │ +(\d+) │"
    return {to: int(size) for to, size in re.findall(row, stats)}


def run(isthmus, folder: Path, denied: tuple[str, ...] = ()) -> dict[str, int]:
    parts = {}
    for cluster in ("east", "west"):
        program = folder / f"{cluster}.py"
        program.write_text(DENIED * (cluster in denied) + TALK)
        parts[cluster] = (1, mpis.ALL["openmpi5"].python, program)
    done = isthmus.well("run", "--stats", *mpis.on(**parts))
    return wire(done.stderr)


ALL = ROUNDS * BYTES  # each way, and something besides


@pytest.mark.parametrize("denied", [(), ("east",), ("west",), ("east", "west")])
def test_what_cannot_be_read_goes_by_the_rings(isthmus, tmp_path, denied):
    sizes = run(isthmus, tmp_path, denied)
    for cluster in ("east", "west"):  # the first messages go by the gateways
        assert (sizes[cluster] > ALL / 2) is (cluster in denied), sizes


def test_the_environment_says_whether_it_is_done(isthmus, tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_DEBUG_LEND", "never")
    sizes = run(isthmus, tmp_path)
    assert min(sizes.values()) > ALL / 2, sizes

    monkeypatch.setenv("ISTHMUS_DEBUG_LEND", "much")
    done = isthmus("run", "-n", 2, mpis.ALL["openmpi5"].python, tmp_path / "east.py")
    assert done.returncode != 0
    assert "ISTHMUS_DEBUG_LEND is 'much'" in done.stderr
