"""The places of spawned processes."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid.grid import ClusterSpec
from isthmus.place.placement import Block, Part
from isthmus.place.plan import ClusterPlan
from isthmus.run.spawnplan import Command, grow, read_commands


def cluster(name, first, host=None):
    base = Part(argv=["app"], env={"OMP": "1"}, wdir="/work")
    return ClusterPlan(name, ClusterSpec(host=host), Block(name, first, [(2, base)]))


CLUSTERS = [cluster("east", 0), cluster("west", 2, host="login.west")]


def grown(*commands, home=0):
    return grow(CLUSTERS, commands, home=home, index=2, first=4, part=1)


def shape(growths):
    return [
        (g.index, g.like, g.cluster.block.first, [n for n, _ in g.cluster.block.parts])
        for g in growths
    ]


def test_by_default_they_are_where_the_root_is():
    assert shape(grown(Command(["a"], 3), home=1)) == [(2, 1, 4, [3])]


def test_a_cluster_or_its_host_may_be_named():
    assert shape(grown(Command(["a"], 3, cluster="west"))) == [(2, 1, 4, [3])]
    assert shape(grown(Command(["a"], 3, cluster="login.west"))) == [(2, 1, 4, [3])]


def test_several_clusters_share_the_processes():
    assert shape(grown(Command(["a"], 3, cluster="east, west"))) == [
        (2, 0, 4, [2]),
        (3, 1, 6, [1]),
    ]


def test_ranks_follow_the_order_of_the_commands():
    growths = grown(
        Command(["a"], 1), Command(["b"], 2), Command(["c"], 1, cluster="west"), Command(["d"], 1)
    )
    assert shape(growths) == [(2, 0, 4, [1, 2]), (3, 1, 7, [1]), (4, 0, 8, [1])]
    names = [g.cluster.name for g in growths]
    assert len({*names}) == 3
    assert [part.number for g in growths for _, part in g.cluster.block.parts] == [0, 1, 2, 3]


def test_another_folder_is_another_native_job():
    growths = grown(Command(["a"], 1), Command(["b"], 1, wdir="/else"))
    assert [g.cluster.block.wdir for g in growths] == ["/work", "/else"]


def test_they_have_the_variables_of_the_run_and_their_own():
    (growth,) = grown(Command(["a"], 1, env={"MINE": "2"}))
    assert growth.cluster.block.parts[0][1].env == {"OMP": "1", "MINE": "2"}


def test_a_cluster_that_is_not_there_is_named():
    with pytest.raises(UsageError, match=r"'wets', which is not a cluster of this run.*'west'"):
        grown(Command(["a"], 1, cluster="wets"))


def test_commands_are_read_from_what_a_rank_asks():
    info = {"cluster": "west", "wdir": "/w", "path": "/a:/b", "env": "A=1\nB=x=y", "other": "z"}
    (command,) = read_commands([{"argv": ["a", "b"], "n": 2, "info": info}])
    assert command == Command(["a", "b"], 2, "west", "/w", ("/a", "/b"), {"A": "1", "B": "x=y"})


@pytest.mark.parametrize(
    "entries",
    [
        None,
        [],
        [3],
        [{"argv": [], "n": 1}],
        [{"argv": ["a"], "n": "1"}],
        [{"argv": ["a"], "n": 1, "info": {"env": "nothing"}}],
    ],
)
def test_what_is_no_command_is_refused(entries):
    with pytest.raises(UsageError):
        read_commands(entries)
