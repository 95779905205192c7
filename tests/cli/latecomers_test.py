import asyncio

from scenarios import RUNNING, check, exits, spawned
from waiting import with_enough_time

from isthmus.run.latecomers import Missing, sentence, watch

WEST = Missing("cluster west", 0, 8)


class Cluster:
    """It is missing until it has been looked for this many times."""

    def __init__(self, looks: int) -> None:
        self.looks = looks
        self.said: list[str] = []

    async def missing(self) -> list[Missing]:
        self.looks -= 1
        return [WEST] if self.looks >= 0 else []

    def watch(self, first: float, limit: float | None) -> str | None:
        return asyncio.run(watch(self.missing, self.said.append, first=first, limit=limit))


def test_sentence():
    assert sentence(10.2, [WEST, Missing("cluster north on login", 3, 8)]) == (
        "after 10 s, cluster west has not started yet: 0 of 8 ranks have joined; "
        "cluster north on login is not complete yet: 3 of 8 ranks have joined"
    )


def test_each_report_until_nobody_is_missing():
    cluster = Cluster(looks=3)
    assert cluster.watch(0.001, None) is None
    assert len(cluster.said) == 3


def test_nothing_is_said_when_all_are_there():
    cluster = Cluster(looks=0)
    assert cluster.watch(0.001, 0.001) is None
    assert cluster.said == []


def test_the_limit_ends_it():
    cluster = Cluster(looks=10)
    assert cluster.watch(0.001, 0.01) == sentence(0.01, [WEST])
    assert len(cluster.said) == 2  # after 1 and 6 ms


def test_a_limit_before_the_first_report():
    cluster = Cluster(looks=10)
    assert cluster.watch(10, 0.001) == sentence(0.001, [WEST])
    assert cluster.said == []


def test_a_limit_of_one_cluster():
    """It does not hold for another that is late."""
    patient, hurried = Missing("cluster west", 0, 8), Missing("cluster north", 0, 8, limit=0.002)
    said: list[str] = []

    async def missing() -> list[Missing]:
        return [patient, hurried]

    late = asyncio.run(
        watch(missing, said.append, first=10, limit=None, of_clusters=[0.001, 0.002])
    )
    assert late == sentence(0.002, [hurried])
    assert said == []


def test_a_cluster_that_is_queued():
    queued = Missing("cluster west", 0, 8, "queued, 12 min (Slurm job 5)")
    assert sentence(720, [queued]) == "after 720 s, cluster west: queued, 12 min (Slurm job 5)"


# ---- whole runs, against fake agents


def test_wait_for_ranks_that_never_come(pair):
    joined = {"say": {"op": "joined", "ranks": 3}}
    grid = pair({**spawned(joined), "count": 3}, {**RUNNING, "count": 2})
    done = with_enough_time(
        lambda seconds: grid.run("-n", "6", "--wait", f"{seconds:g}", "x"),
        lambda done: "east" not in done.stderr and "2 of 3 ranks" in done.stderr,
    )
    check(done, 124, " s, cluster west is not complete yet: 2 of 3 ranks have joined, and")
    assert "east" not in done.stderr
    assert "kill" in [m["op"] for m in grid.installs["west"].heard]


def test_who_is_missing_is_told_even_where_agents_are_silent(pair):
    done = pair(RUNNING, {**RUNNING, "on": {"count": [{"sleep": 20}]}}).run(
        *("-n", "2", "--wait", "0.5", "x")
    )
    check(done, 124, "cluster east has not started yet", "cluster west has not started yet: 0 of 1")


def test_wait_is_over_when_all_have_joined(pair):
    joined = {"say": {"op": "joined", "ranks": 1}}
    grid = pair()

    def run(seconds):
        for install in grid.installs.values():
            install.play(spawned(joined, {"sleep": 2 * seconds}, exits()))
        return grid.run("-n", "2", "--wait", f"{seconds:g}", "x")

    done = with_enough_time(run, lambda done: done.returncode == 0, 0.5)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_launcher_that_waits_after_it_failed_to_start_ranks(pair):
    failed = {"program": "ssh", "launcher": "mpiexec", "status": 255}
    count = {"op": "count", "ranks": {}, "failed": failed}
    done = pair(RUNNING, {**RUNNING, "on": {"count": [{"say": count}]}}).run(
        "-n", "2", "--wait", "0.5", "x"
    )
    words = "ssh, by which mpiexec starts ranks, ended with status 255"
    check(done, 1, f"cluster west: {words}")


def test_a_cluster_has_a_limit_of_its_own(grid):
    grid.cluster("east", **{**spawned({"say": {"op": "joined", "ranks": 1}}), "count": 1})
    grid.cluster("west", 'wait = "0.5 s"', **{**RUNNING, "count": 0})
    done = grid.run("-n", "2", "x")
    check(done, 124, "cluster west has not started yet", "the grid file allows no more")


def test_times_have_units(pair):
    done = pair({}, {}).run("--wait", "soon", "-n", "2", "x")
    check(done, 2, "--wait soon: 'soon' is not a duration", "Write it as 90, 20min or 2h.")
