"""The bytes on the wires inside a cluster with `encrypt = false`, and on those between clusters."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mpis
import pytest

MARK = "this is the payload in plain words "

# Told on its standard output: "up", then, once the file is there, the pairs of hosts between which
# the mark has gone.
LISTENER = """
import json, os, select, socket, sys
bell, mark = sys.argv[1], sys.argv[2].encode()
wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
print("up", flush=True)
seen = set()
while True:
    ready = select.select([wire], [], [], 0.2)[0]
    if not ready and os.path.exists(bell):
        break
    if ready and mark in (packet := wire.recv(1 << 17)):
        seen.add((socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])))
print(json.dumps(sorted(seen)))
"""

# The mark comes backwards: native launchers say in plain what they start.
PROGRAM = """
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
text = (sys.argv[1][::-1] * 3000).encode()
other = 1 - world.rank
for turn in range(20):
    got = bytearray(len(text))
    world.Sendrecv(text, other, turn, got, other, turn)
    assert got == text
"""

GRID = """
[cluster.a]
host = "a0"
hosts = "a1"
encrypt = {encrypt}
[cluster.b]
host = "b0"
hosts = "b1"
"""


def seen_on_the_frontends(lab, folder: Path, encrypt: str) -> tuple[set[tuple[str, str]], str]:
    """Between which hosts the payload went in plain, as both gateways' hosts see it; the table of
    `--stats`."""
    grid, program, bell = folder / "grid.toml", folder / "program.py", folder / "bell"
    grid.write_text(GRID.format(encrypt=encrypt))
    program.write_text(PROGRAM)
    listeners = [
        lab.labs.start(
            "exec", "--lab", lab.id, "--on", node, "--", sys.executable, "-c", LISTENER, bell, MARK
        )
        for node in ("a0", "b0")
    ]
    for listener in listeners:
        assert listener.stdout
        assert listener.stdout.readline() == "up\n", listener.communicate()
    python = mpis.ALL["mpich5"].python
    done = lab.exec(
        sys.executable, "-m", "isthmus", "run", "-g", grid, "--stats", "--timeout", 90,
        "-n", 2, python, program, MARK[::-1],
    )  # fmt: skip
    bell.write_text("")
    seen = [json.loads(listener.communicate(timeout=60)[0]) for listener in listeners]
    assert done.returncode == 0, done.stderr
    return {(one, other) for pairs in seen for one, other in pairs}, done.stderr


@pytest.mark.parametrize("encrypt", ["true", "false"])
def test_payload_is_in_plain_within_a_cluster_that_says_so(standing, tmp_path, encrypt):
    lab = standing("hablot", "--nodes", "1")
    seen, table = seen_on_the_frontends(lab, tmp_path, encrypt)
    inside = {("10.1.0.1", "10.1.255.1"), ("10.1.255.1", "10.1.0.1")}
    assert seen == (inside if encrypt == "false" else set())
    assert ("a -> a's ranks, not encrypted (1 of 1)" in table) is (encrypt == "false")


# Parents and children add numbers over both worlds.
SPAWNER = """
import sys
from mpi4py import MPI
world, parent = MPI.COMM_WORLD, MPI.Comm.Get_parent()
if parent != MPI.COMM_NULL:
    parent.Merge(high=True).allreduce(1)
    sys.exit()
info = MPI.Info.Create({"cluster": "a"})
children = world.Spawn(sys.executable, [__file__], maxprocs=1, info=info)
print(children.Merge().allreduce(1))
"""


def test_spawned_processes_are_not_encrypted_either(standing, tmp_path):
    """Their gateway takes them as it takes the others of its cluster."""
    lab = standing("hablot", "--nodes", "1")
    grid, program = tmp_path / "grid.toml", tmp_path / "program.py"
    grid.write_text(GRID.format(encrypt="false"))
    program.write_text(SPAWNER)
    done = lab.exec(
        *[sys.executable, "-m", "isthmus", "run", "-g", grid, "--timeout", 90],
        *["-n", 2, mpis.ALL["mpich5"].python, program],
    )
    assert (done.returncode, done.stdout) == (0, "3\n3\n"), done.stderr
