"""A server and a client that two people start, in either order (docs/joining.md)."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

import mpis
import pytest
from runs_meet_test import Start, ended, start  # noqa: F401

EXAMPLES = mpis.ROOT / "examples"
PYTHON = Path(__file__).parent / "meeting" / "client.py"
CLIENT = (0, "client: half of 42 is 21\n")
OTHER = "[cluster.tokyo]\n[cluster.osaka]\n"


@pytest.fixture
def name() -> str:
    return f"ocean-{uuid.uuid4().hex}"


def line(process: subprocess.Popen[str]) -> str:
    """The next that it prints."""
    assert process.stdout
    return process.stdout.readline() or ended(process)[2]


def client_of(library: str, programs: Path) -> list[object]:
    if library == "python":
        return [
            mpis.ALL["openmpi5"].python,
            "-m",
            "mpi4py",
            PYTHON,
        ]  # whose exceptions end all ranks
    return [mpis.ALL[library].build(EXAMPLES / "isthmus_client.c", programs)]


@pytest.mark.parametrize("first", ["server", "client"])
@pytest.mark.parametrize(
    ("server", "client"),
    [("openmpi4", "mpich4"), ("mpich4", "openmpi4"), ("mpich4", "python")],
    ids="-".join,
)
def test_who_comes_first_waits(start, programs, grid_with, name, server, client, first):  # noqa: F811
    serves = mpis.ALL[server].build(EXAMPLES / "isthmus_server.c", programs)
    grid = grid_with(OTHER)
    commands = {
        "server": ["run", "-n", 3, serves, name],
        "client": ["run", "-g", grid, "-n", 2, *client_of(client, programs), name, 60],
    }
    said = {"server": f"server: published {name}\n", "client": f"client: looks for {name}\n"}
    sides = {}
    for side in [first, *(commands.keys() - {first})]:
        sides[side] = start(*commands[side])
        assert line(sides[side]) == said[side]
    status, out, errors = ended(sides["client"])
    assert (status, out) == CLIENT, errors
    status, out, errors = ended(sides["server"])
    assert (status, out) == (0, "server: answered a client of 2 ranks\n"), errors


@pytest.mark.parametrize("library", ["openmpi4", "mpich4", "python"])
@pytest.mark.parametrize(
    ("wait", "said"),
    [
        ([], "; the info key timeout of MPI_Lookup_name waits for it"),
        (["0.5"], "is not published within 0.5 s in this run"),
        (["soon"], "the info key timeout says no number of seconds"),
    ],
    ids=["at once", "later", "nonsense"],
)
def test_no_server(start, programs, name, library, wait, said):  # noqa: F811
    status, _, errors = ended(start("run", "-n", 2, *client_of(library, programs), name, *wait))
    assert status != 0
    assert said in errors
