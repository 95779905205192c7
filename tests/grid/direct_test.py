"""Programs of two clusters whose processes reach each other without gateways."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from ports import free_port

GRID = """
[cluster.east]
[cluster.west]
[[link]]
between = ["east", "west"]
reach = "direct"
encrypt = {encrypt}
"""


@pytest.mark.parametrize("encrypt", ["true", "false"])
@pytest.mark.parametrize("pair", [("openmpi4", "mpich4"), ("mpich5", "mpich5")], ids="+".join)
@pytest.mark.parametrize("program", ["p2p/modes.c", "p2p/large.c", "coll/all.c"])
def test_programs(isthmus, programs: Path, grid_with, program, pair, encrypt) -> None:
    grid = grid_with(GRID.format(encrypt=encrypt))
    east, west = (mpis.ALL[name].build(mpis.PROGRAMS / program, programs) for name in pair)
    isthmus.well("run", "-g", grid, *mpis.on(east=(2, east), west=(2, west)))


PINGPONG = """
from mpi4py import MPI
world = MPI.COMM_WORLD
data = bytearray(1 << 20)
for _ in range(50):
    if world.rank == 0:
        world.Send(data, 1)
        world.Recv(data, 1)
    else:
        world.Recv(data, 0)
        world.Send(data, 0)
"""


def payload(stats: str) -> int:
    """Bytes of the program that crossed the gateways, by the table of --stats."""
    rows = re.findall(r"│ \w+ -> \w+(?:, memory)? +│ +\d+ │ +(\d+) │", stats)
    assert len(rows) == 2, stats
    return sum(map(int, rows))


def direct_payload(stats: str) -> int:
    """Bytes of the program that went from process to process."""
    rows = re.findall(r"│ \w+ -> \w+, direct \(1\) +│ +\d+ │ +(\d+) │", stats)
    assert len(rows) == 2, stats
    return sum(map(int, rows))


def test_little_is_left_to_the_gateways(isthmus, tmp_path: Path) -> None:
    program = tmp_path / "pingpong.py"
    program.write_text(PINGPONG)
    python = mpis.ALL["mpich5"].python
    crossed = {}
    for reach in ("direct", "gateway"):
        grid = tmp_path / f"{reach}.toml"
        grid.write_text(GRID.format(encrypt="true").replace('"direct"', f'"{reach}"'))
        done = isthmus.well("run", "--stats", "-g", grid, "-n", 2, python, program)
        crossed[reach] = payload(done.stderr)
        if reach == "direct":
            assert crossed[reach] + direct_payload(done.stderr) >= 100 << 20
        else:
            assert ", direct" not in done.stderr
    assert crossed["gateway"] >= 100 << 20
    # The first messages go by the gateways, until the conduit stands.
    assert crossed["direct"] < crossed["gateway"] / 2


PORTS = """
import os, sys
from mpi4py import MPI
own = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
       if os.path.exists(f"/proc/self/fd/{fd}") or os.path.islink(f"/proc/self/fd/{fd}")}
at = [int(row[1].rsplit(":", 1)[1], 16)
      for name in ("tcp", "tcp6")
      for row in (line.split() for line in open(f"/proc/self/net/{name}"))
      if row[3] == "0A" and f"socket:[{row[9]}]" in own]
print(MPI.COMM_WORLD.rank, *at, flush=True)
data = bytearray(1 << 20)
for _ in range(20):
    MPI.COMM_WORLD.Bcast(data, 0)
"""


def test_ranks_listen_in_the_range_of_their_cluster(isthmus, tmp_path: Path) -> None:
    """One of three finds no port, and connects to the others."""
    program = tmp_path / "ports.py"
    program.write_text(PORTS)
    first = free_port(2)
    grid = tmp_path / "grid.toml"
    ports = f'ports = "{first}-{first + 1}"\n'
    grid.write_text(
        GRID.format(encrypt="true").replace("[cluster.east]\n", f"[cluster.east]\n{ports}")
    )
    python = mpis.ALL["mpich5"].python
    words = mpis.on(east=(3, python, program), west=(1, python, program))
    done = isthmus.well("run", "--stats", "-g", grid, *words)
    own = {first, first + 1}  # beside those of the native MPI
    taken = [port for word in done.stdout.split() for port in own & {int(word)}]
    assert sorted(taken) == sorted(own), done.stdout
    assert "east -> west, direct (3)" in done.stderr
