"""Runs that go on without clusters that fail, with fake agents."""

import pytest
from scenarios import check, exits, spawned

KILLED = exits(status=137, signal=9, finalized=False)
CAUSE = "the program was killed by signal 9 (SIGKILL)"


def joined(name):
    return {"say": {"op": "joined", "cluster": name, "ranks": 1}}


def until_told(name, *before, status=0):
    """Its ranks end well once the agent has heard of a failed cluster."""
    scenario = spawned(joined(name), {"mark": "joined"}, *before)
    scenario["on"]["failed"] = [exits(status=status)]
    return scenario


def after_all(*names):
    return [{"wait_for": f"{name}/joined"} for name in names]


@pytest.fixture
def three(grid):
    """Clusters east and north go on, west does what it is given."""

    def make(*west, lines="", status=0, **more):
        grid.cluster("east", lines, **until_told("east", status=status))
        others = after_all("east", "north")
        grid.cluster(
            "west", **{**spawned(joined("west"), {"mark": "joined"}, *others, *west), **more}
        )
        grid.cluster("north", **until_told("north"))
        return grid

    return make


def test_the_others_go_on(three):
    grid = three(KILLED)
    done = grid.run("--survive", "-n", "3", "x")
    check(done, 0, f'cluster "west" has failed: cluster west: {CAUSE}; 2 clusters go on')
    for name in ("east", "north"):
        told = grid.installs[name].told("failed")
        assert told["cluster"] == 1
        assert told["message"].startswith('cluster "west" has failed: ')
        assert "kill" not in [message["op"] for message in grid.installs[name].heard]
    assert "failed" not in [message["op"] for message in grid.installs["west"].heard]
    assert grid.installs["west"].heard[-1]["op"] in ("end", "EOF")


def test_ranks_and_gateways_learn_that_the_run_survives(three):
    grid = three(KILLED)
    grid.run("--survive", "-n", "3", "x")
    told = grid.installs["east"].told("configure")
    assert told["env"]["ISTHMUS_SURVIVE"] == "1"
    assert told["settings"]["survives"] is True
    assert grid.installs["east"].told("alive")["patience"] == 600


def test_without_survival_nothing_is_told(pair):
    grid = pair()
    grid.run("-n", "2", "x")
    told = grid.installs["east"].told("configure")
    assert "ISTHMUS_SURVIVE" not in told["env"]
    assert "survives" not in told["settings"]
    assert "alive" not in [message["op"] for message in grid.installs["east"].heard]


def test_an_agent_that_is_lost(three):
    done = three({"die": 3}).run("--survive", "-n", "3", "x")
    said = 'cluster "west" has failed: cluster west: the agent ended by itself with status 3'
    check(done, 0, f"{said}; 2 clusters go on")


def test_ranks_that_end_without_finalize(three):
    done = three(exits(finalized=False)).run("--survive", "-n", "3", "x")
    check(done, 0, "a rank ended without MPI_Finalize", "2 clusters go on")


def test_a_process_that_its_gateway_misses(three):
    why = 'rank 1 (cluster "west") ended without MPI_Finalize or was killed'
    suspect = {"op": "suspect", "gateway": 0x80000001, "cluster": 1, "message": why}
    grid = three({"say": suspect})
    check(grid.run("--survive", "-n", "3", "x"), 0, f'cluster "west" has failed: {why}; 2')
    assert grid.installs["west"].told("kill")["grace"] == 5


def test_the_status_is_that_of_the_survivors(three):
    done = three(KILLED, status=5).run("--survive", "--min-clusters", "2", "-n", "3", "x")
    check(done, 5, "2 clusters go on", "cluster east: the program ended with status 5")


def test_too_few_would_be_left(three):
    done = three(KILLED).run("--survive", "--min-clusters", "3", "-n", "3", "x")
    check(done, 137, f"cluster west: {CAUSE}")
    assert "has failed" not in done.stderr


def test_only_those_that_may_leave(three):
    done = three(KILLED, lines="may_leave = true").run("-n", "3", "x")
    check(done, 137, f"cluster west: {CAUSE}")


def test_abort_ends_all(three):
    abort = {"say": {"op": "abort", "rank": 1, "code": 3, "message": ""}}
    done = three(abort, KILLED).run("--survive", "-n", "3", "x")
    check(done, 3, "rank 1 called MPI_Abort with code 3")


def test_before_all_have_joined_a_failure_ends_all(grid):
    grid.cluster("east", keep_running=True)
    grid.cluster("west", **spawned(joined("west"), KILLED))
    check(grid.run("--survive", "-n", "2", "x"), 137, f"cluster west: {CAUSE}")


def test_another_reports_late_that_its_ranks_have_joined(grid):
    east = spawned()
    east["on"]["count"] = [{"say": {"op": "count", "ranks": {"east": 1}, "ready": True}}]
    east["on"]["failed"] = [joined("east"), exits()]
    grid.cluster("east", **east)
    grid.cluster("west", **spawned(joined("west"), KILLED))
    done = grid.run("--survive", "-n", "2", "x")
    check(done, 0, f'cluster "west" has failed: cluster west: {CAUSE}; 1 cluster goes on')


def test_two_that_suspect_each_other(grid):
    def suspect(gateway, cluster):
        why = f"gateway {gateway} does not reach {cluster}"
        message = {"op": "suspect", "cluster": cluster, "message": why}
        return {"say": {**message, "gateway": 0x80000000 + gateway}}

    grid.cluster("east", **until_told("east", *after_all("west"), suspect(0, 1)))
    grid.cluster("west", **until_told("west", *after_all("east"), suspect(1, 0)))
    done = grid.run("--survive", "-n", "2", "x")
    check(done, 0, 'cluster "west" has failed: gateway 0 does not reach 1; 1 cluster goes on')
