"""The link of a communicator's messages, chosen by the info key isthmus_link."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest

GRID = """
[cluster.east]
[cluster.west]
[[gateway]]
cluster = "east"
[[gateway]]
cluster = "east"
[[gateway]]
cluster = "west"
[[gateway]]
cluster = "west"
[[link]]
between = ["east", "west"]
name = "fast"
[channel.bulk]
clusters = ["east", "west"]
link = "thin"
[[link]]
between = ["east", "west"]
name = "thin"
"""
# Ranks 0 and 2 exchange, and all broadcast, on a communicator of each name.
PROGRAM = """
import importlib, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
def by(name):
    info = MPI.Info.Create()
    info.Set("isthmus_link", name)
    return info
def exchange(comm, size):
    data = bytearray(size)
    for k in range(20):
        if comm.rank in (0, 2):
            data[:] = bytes([comm.rank + k]) * size
            comm.Sendrecv_replace(data, 2 - comm.rank, 5, 2 - comm.rank, 5)
            assert data == bytes([2 - comm.rank + k]) * size
        root = bytearray([7] * size if comm.rank == 0 else size)
        comm.Bcast(root)
        assert root == bytes([7]) * size
for name in sys.argv[2:]:
    if name == "set":
        comm = world.Dup()
        comm.Set_info(by("thin"))
    elif name == "nested":
        comm = world.Dup_with_info(by("thin")).Dup()
    elif name == "channel":
        sys.path.append(sys.argv[1])
        comm = importlib.import_module("isthmus_topology").channels()["bulk"]
    elif name == "idup":
        comm, request = world.Idup_with_info(by("thin"))
        request.Wait()
    else:
        comm = world.Dup_with_info(by(name))
    for size in (8, 30_000, 1 << 20):
        exchange(comm, size)
    if name != "channel":
        comm.Free()
"""
UNKNOWN = """
from mpi4py import MPI
world = MPI.COMM_WORLD
info = MPI.Info.Create()
info.Set("isthmus_link", "thick")
for act in (lambda: world.Dup_with_info(info), lambda: world.Set_info(info)):
    try:
        act()
    except MPI.Exception as wrong:
        assert wrong.Get_error_class() == MPI.ERR_INFO_VALUE
        if world.rank == 0:
            print(wrong.Get_error_string())
world.Barrier()
"""


def crossed(stats: str) -> list[int]:
    """Bytes of the program that crossed each link, both ways, by the table of --stats; then those
    that went without gateways."""
    rows = re.findall(r"│ (east|west)(\S*) -> \S+(?:, \w+)?(?: \(\d+\))? +│ +\d+ │ +(\d+) │", stats)
    return [sum(int(count) for _, link, count in rows if link == name) for name in ("/0", "/1", "")]


@pytest.fixture(params=["openmpi5", "mpich5"])
def run(request, isthmus, tmp_path: Path):
    def run(text: str, program: str, *words: str):
        grid, script = tmp_path / "grid.toml", tmp_path / "program.py"
        grid.write_text(text)
        script.write_text(program)
        python = mpis.ALL[request.param].python
        return isthmus.well(
            *("run", "--stats", "-g", grid, "-n", 4, python, script, mpis.ROOT / "include", *words),
        )

    return run


@pytest.mark.parametrize(
    ("words", "link"),
    [(["fast"], 0), (["thin", "set", "nested", "idup", "channel"], 1)],
    ids=["fast", "thin"],
)
def test_bytes_go_where_they_are_told(run, words, link) -> None:
    bytes_of = crossed(run(GRID, PROGRAM, *words).stderr)
    expected = len(words) * 3 * 20 * (1 << 20)
    assert bytes_of[link] >= expected, bytes_of
    assert sum(bytes_of) - bytes_of[link] < expected / 100, bytes_of


def test_gateways_are_taken_where_there_is_memory(run) -> None:
    *_, without = crossed(run(GRID, PROGRAM, "direct").stderr)
    assert without >= 40 << 20  # broadcasts go by memory that all ranks share
    *by_links, without = crossed(run(GRID, PROGRAM, "gateway").stderr)
    assert sum(by_links) >= 60 << 20
    assert without < 1 << 20


@pytest.mark.parametrize("more", ["", 'reach = "gateway"\n'], ids=["memory", "gateway"])
def test_an_unknown_name_is_an_error_that_has_the_known(run, more) -> None:
    done = run(GRID + more, UNKNOWN)
    assert done.stdout.count('isthmus_link is "thick"') == 2, done.stdout
    assert done.stdout.count("fast, thin, ") == 2, done.stdout


def test_a_direct_link_is_left_for_one_by_gateways(run) -> None:
    text = GRID.replace('name = "fast"', 'name = "fast"\nreach = "direct"')
    *by_links, without = crossed(run(text, PROGRAM, "fast").stderr)
    assert without >= 50 << 20, "the first messages go by the link's gateways"
    assert by_links[1] < 1 << 20
    by_fast, by_thin, without = crossed(run(text, PROGRAM, "thin").stderr)
    assert by_thin >= 60 << 20
    assert by_fast + without < 1 << 20
