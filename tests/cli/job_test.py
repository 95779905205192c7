"""The life of a run against fake agents."""

import re

import pytest
from scenarios import spawned

from isthmus.grid import routes
from isthmus.run.report import scaled


def test_normal_run(pair):
    grid = pair()
    done = grid.run("-n", "5", "prog", "arg")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == [f"rank {i}" for i in range(5)]
    east, west = grid.installs["east"], grid.installs["west"]
    assert [m["op"] for m in east.heard if m["op"] != "stdin-eof"] == [
        "configure", "inspect", "link", "spawn", "end",
    ]  # fmt: skip
    assert (east.told("spawn")["first"], east.told("spawn")["size"]) == (0, 3)
    assert (west.told("spawn")["first"], west.told("spawn")["size"]) == (3, 2)
    assert west.told("spawn")["parts"] == [
        {"n": 2, "argv": ["prog", "arg"], "env": {}, "appnum": 0, "mpi": None}
    ]
    assert east.told("spawn")["stdin"]
    assert not west.told("spawn")["stdin"]


def test_what_agents_are_told(pair):
    grid = pair()
    grid.extra = '[[link]]\nbetween = ["east", "west"]\nrate = "8 Gbit/s"\nstreams = 4\n'
    done = grid.run("-n", "2", "-x", "A=b", "--wdir", "/tmp", "--tag-output", "prog")
    assert done.returncode == 0, done.stderr
    east, west = grid.installs["east"], grid.installs["west"]
    assert len(bytes.fromhex(east.told("configure")["secret"])) == 32
    assert east.told("configure")["secret"] == west.told("configure")["secret"]
    assert east.told("configure")["cluster"] == "east"
    assert east.told("configure")["wdir"] == "/tmp"
    first, second = 0x8000_0000, 0x8000_0001
    assert east.told("configure")["gateways"] == [{"node": first, "listen": ["tcp:127.0.0.1:0"]}]
    assert east.told("link")["links"] == [
        {
            "from": first,
            "to": second,
            "addresses": ["tcp:127.0.0.1:9000"],
            "compress": False,
            "encrypt": True,
            "rate": 1e9,
            "rtt": None,
            "streams": 4,
            "congestion": None,
            "net": "tcp",
            "patience": 600.0,
        }
    ]
    assert west.told("link")["links"] == []
    assert east.told("link")["routes"] == [{"node": first, "next": {"1": [second]}}]
    assert west.told("link")["routes"] == [{"node": second, "next": {"0": [first]}}]
    world = west.told("link")["world"]
    machine = {
        "arch": "x86_64",
        "byteorder": "little",
        "long_double": "64/16",
    }  # as the agents said
    assert world["clusters"] == [
        {"name": "east", "size": 1, **machine, "net": "tcp", "encrypt": True},
        {"name": "west", "size": 1, **machine, "net": "tcp", "encrypt": True},
    ]
    assert world["gateways"] == [
        {"node": first, "clusters": [0], "addresses": [], "hops": [0, 1], "name": "east"},
        {
            "node": second,
            "clusters": [1],
            "addresses": ["unix:/tmp/x", "tcp:127.0.0.1:9000"],
            "hops": [1, 0],
            "name": "west",
        },
    ]
    env = {"A": "b", "ISTHMUS_NETWORK": "wan-rate=8000.0M"}
    assert east.told("spawn")["parts"] == [
        {"n": 1, "argv": ["prog"], "env": env, "appnum": 0, "mpi": None}
    ]
    assert east.told("spawn")["tag_output"] is True


def test_secret_is_on_no_command_line_and_new_for_each_run(pair):
    grid = pair()
    secrets = set()
    for _ in range(2):
        assert grid.run("-n", "2", "prog").returncode == 0
        secrets.add(grid.installs["east"].told("configure")["secret"])
    assert len(secrets) == 2


def test_stats(pair):
    done = pair().run("-n", "2", "--stats", "x")
    assert done.returncode == 0
    assert "east -> west" not in done.stdout
    (row,) = stats_rows(done.stderr)
    assert row == ["east -> west", "3", "24", "2048", "0", "0", "", ""]


def stats_rows(text: str) -> list[list[str]]:
    """The cells of the table of --stats."""
    lines = [line for line in text.splitlines() if " -> " in line and "│" in line]
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]


def test_a_column_of_the_stats_has_one_unit(pair):
    """Large and small figures have the same unit."""
    counts = {"messages": 1, "bytes": 7, "wire_bytes": 55, "conduits": 1, "streams": 2}
    much = {key: 10**12 * value for key, value in counts.items()} | {"conduits": 1, "streams": 2}
    direct = [{"from": 0, "to": 1, **counts}, {"from": 1, "to": 0, **much, "lost_bytes": 1_234_567}]
    node = {"node": routes.FIRST_GATEWAY}
    crossing = node | {"from": 0, "to": 1, "messages": 2, "bytes": 20_000, "wire_bytes": 30_000}
    near = node | {"cluster": 0, "processes": 1, "ucx": 0, "memory": 1, "plain": 0}
    near |= {"messages": 1, "bytes": 9_999_999, "wire_bytes": 10_000_000}
    told = {"direct": direct, "crossings": [crossing], "near": [near]}
    done = pair({"stats": told}).run("-n", "2", "--stats", "x")
    assert done.returncode == 0, done.stderr
    rows = stats_rows(done.stderr)
    assert len(rows) == 5, done.stderr
    assert all(re.fullmatch(r"\d*|\d+\.\d+", cell) for row in rows for cell in row[1:]), rows
    assert ["7000000000000", "55000000000000"] in [row[2:4] for row in rows]


@pytest.mark.parametrize(
    ("value", "factor", "said"),
    [(0, 1e3, ""), (12.345e-3, 1e3, "12.3"), (8e-6, 1e3, "0.008"), (1.25e9, 8e-6, "10000")],
)
def test_figures_of_the_stats_have_three_digits(value, factor, said):
    assert scaled(value, factor) == said


@pytest.mark.parametrize(
    ("sent", "said"),
    [(5 * 10**8 - 24, "1.50 s of processor time, 3 s for each GB"), (9, "1.50 s of")],
)
def test_stats_of_a_gateways_processors(pair, sent, said):
    near = {"node": routes.FIRST_GATEWAY, "cluster": 0, "processes": 1, "ucx": 0, "memory": 0}
    near |= {"plain": 0, "messages": 1, "bytes": sent, "wire_bytes": sent}
    done = pair({"stats": {"cpu": 1.5, "near": [near]}}).run("-n", "2", "--stats", "x")
    assert f"gateway east: {said}" in done.stderr
    assert ("for each GB" in done.stderr) is ("for each GB" in said)


def test_a_cluster_may_encrypt_nothing_between_its_ranks_and_gateways(grid):
    near = {"node": routes.FIRST_GATEWAY, "cluster": 0, "processes": 2, "ucx": 0, "memory": 1}
    near |= {"plain": 1, "messages": 1, "bytes": 9, "wire_bytes": 9}
    grid.cluster("east", "encrypt = false", stats={"near": [near]})
    grid.cluster("west")
    done = grid.run("-n", "2", "--dry-run", "x")
    assert done.stdout.count("encrypt  off between its ranks and their gateways") == 1
    done = grid.run("-n", "2", "--stats", "x")
    assert done.returncode == 0, done.stderr
    assert "east -> east's ranks, memory (1 of 2), not encrypted (1 of 2)" in done.stderr
    told = {name: install.told("configure")["settings"] for name, install in grid.installs.items()}
    assert told == {"east": {"accept_plain_ranks": True}, "west": {}}
    clusters = grid.installs["west"].told("link")["world"]["clusters"]
    assert [cluster["encrypt"] for cluster in clusters] == [False, True]


def test_verbose_tells_the_steps(pair):
    done = pair().run("-n", "2", "-v", "x")
    assert done.returncode == 0
    for words in ("cluster east: agent 0.", "gateway listens on", "Open MPI v4.1.4", "have joined"):
        assert words in done.stderr


def test_dry_run_starts_nothing(pair):
    grid = pair()
    done = grid.run("-n", "3", "--dry-run", "-x", "A=b c", "prog", "an arg")
    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        "3 ranks on 2 clusters",
        "cluster east: ranks 0-1",
        "cluster west: rank 2",
        "2 x prog 'an arg'",
        "'A=b c'",
        "east - west: shared memory if the processes of both are on one host, else gateways",
        "link east -> west: shared memory on one host, else TCP, encrypted",
    ):
        assert words in done.stdout
    assert not (grid.installs["east"].home / "heard.jsonl").exists()


def test_one_cluster_is_a_world_too(pair):
    grid = pair()
    assert grid.run("-n", "1", "x").stdout == "rank 0\n"
    assert not (grid.installs["west"].home / "heard.jsonl").exists()
    east = grid.installs["east"]
    assert east.told("configure")["settings"] == {"alone": True}
    assert east.told("configure")["gateways"] == []


@pytest.mark.parametrize("status", [0, 3])
def test_one_cluster_ends_as_its_program_does(grid, status):
    ended = {"op": "exit", "status": status, "signal": None, "joined": False, "finalized": False}
    grid.cluster("east", **spawned({"say": ended}))
    grid.extra = '[[gateway]]\ncluster = "east"\nhost = "a.host.not.needed"\n'
    done = grid.run("-n", "2", "x")
    assert done.returncode == status
    said = f"isthmus: cluster east: the program ended with status {status}\n" if status else ""
    assert done.stderr == said
