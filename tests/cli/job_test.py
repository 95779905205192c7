"""The life of a run against fake agents."""

EXIT_0 = {"op": "exit", "status": 0, "signal": None, "joined": True, "finalized": True}
RUNNING = {"keep_running": True}


def spawned(*actions):
    """A scenario in which the ranks were started and then `actions` happen."""
    return {"on": {"spawn": [{"say": {"op": "spawned"}}, *actions]}}


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
    assert west.told("spawn")["parts"] == [{"n": 2, "argv": ["prog", "arg"], "env": {}}]
    assert east.told("spawn")["stdin"]
    assert not west.told("spawn")["stdin"]
