"""Which cluster has failed (run/failing.py), and which may (place/survival.py)."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids
from isthmus.place.survival import Survival, of_run
from isthmus.run.failing import Failing, Watcher

NAMES = "abcd"


def mesh(sizes, *, may_leave=NAMES, least=1, gateways=1):
    """A full mesh of clusters; gateway i of cluster c is c * 10 + i."""
    every = range(len(sizes))
    nodes = {cluster: [cluster * 10 + i for i in range(gateways)] for cluster in every}
    watchers = {
        node: Watcher((cluster,), {other: nodes[other] for other in every if other != cluster})
        for cluster in every
        for node in nodes[cluster]
    }
    clusters = list(zip(NAMES, sizes, strict=False))
    return Failing(Survival(frozenset(may_leave), least), clusters, watchers)


def whom(failing):
    return [cluster for cluster, _ in failing.suspects()]


def test_a_run_goes_on_without_a_cluster():
    failing = mesh([2, 2, 2])
    assert failing.lose([1], joined=True)
    assert (failing.left, failing.failed) == (2, {1})


@pytest.mark.parametrize(
    "failing",
    [mesh([2, 2], may_leave="a"), mesh([2, 2], least=2), Failing(None, [("a", 2), ("b", 2)], {})],
    ids=["must stay", "too few left", "no survival"],
)
def test_or_it_ends(failing):
    assert not failing.lose([1], joined=True)
    assert failing.left == 2


def test_nothing_fails_before_all_have_joined():
    assert not mesh([2, 2]).lose([1], joined=False)


def test_the_last_cluster_never_leaves():
    failing = mesh([2, 2])
    assert failing.lose([0], joined=True)
    assert not failing.lose([1], joined=True)


@pytest.mark.parametrize(
    ("sizes", "loser"), [([4, 2], 1), ([2, 4], 0), ([3, 3], 1)], ids=["second", "first", "tie"]
)
def test_of_two_that_suspect_each_other_the_smaller_fails(sizes, loser):
    failing = mesh(sizes)
    failing.suspect(0, 1, "no way to b")
    failing.suspect(10, 0, "no way to a")
    assert failing.suspects() == [(loser, f"no way to {NAMES[loser]}")]


def test_one_that_must_stay_does_not_fail_for_one_that_may_leave():
    failing = mesh([2, 9], may_leave="b")
    failing.suspect(0, 1, "")
    failing.suspect(10, 0, "")
    assert whom(failing) == [1]


def test_one_that_all_others_suspect_fails_though_it_is_no_smaller():
    failing = mesh([3, 3, 3])
    for a, b in ((1, 0), (2, 0), (0, 1), (0, 2)):
        failing.suspect(10 * a, b, "")
    assert whom(failing) == [0]


def test_a_suspect_that_suspects_nobody_fails_whatever_its_size():
    failing = mesh([1, 9])
    failing.suspect(0, 1, "silent")
    assert failing.suspects() == [(1, "silent")]


def test_mutual_suspicions_are_decided_first():
    failing = mesh([4, 1, 9])
    failing.suspect(0, 2, "by way of b")
    failing.suspect(10, 2, "")
    failing.suspect(20, 1, "")
    assert whom(failing) == [1]
    failing.lose([1], joined=True)
    assert whom(failing) == [2]


@pytest.mark.parametrize(
    ("sizes", "lost"),
    [([2, 1, 2, 2], [0]), ([2, 2, 1, 2, 2], [3, 4]), ([3, 2, 1, 1, 3], [3, 4])],
    ids=["the first is alone", "halves", "the smaller half"],
)
def test_clusters_behind_a_gateway_without_a_way_are_lost_with_its_own(sizes, lost):
    """A chain, whose gateways pass messages on to neighbours. One in it fails; only its neighbours
    notice which clusters it has led to."""
    last, gone = len(sizes) - 1, next(i for i in range(1, 9) if sizes[i] == 1)
    watchers = {
        i: Watcher((i,), {j: [i + 1 if j > i else i - 1] for j in range(last + 1) if j != i})
        for i in range(last + 1)
    }
    names = "abcde"
    failing = Failing(Survival(frozenset(names)), list(zip(names, sizes, strict=False)), watchers)
    assert failing.lose([gone], joined=True)
    failing.lose_gateway(gone)
    for before in range(gone):
        failing.suspect(gone + 1, before, "")
    for after in range(gone + 1, last + 1):
        failing.suspect(gone - 1, after, "")
    assert whom(failing) == lost


def test_a_cluster_suspects_once_all_its_gateways_do():
    failing = mesh([2, 2], gateways=2)
    failing.suspect(0, 1, "")
    assert whom(failing) == []
    failing.suspect(1, 1, "")
    assert whom(failing) == [1]


def test_or_those_that_are_left():
    failing = mesh([2, 2], gateways=2)
    failing.suspect(0, 1, "")
    failing.lose_gateway(1)
    assert whom(failing) == [1]


def test_suspicions_end_with_the_cluster():
    failing = mesh([2, 2, 2])
    failing.suspect(0, 1, "")
    failing.lose([1], joined=True)
    assert whom(failing) == []


def test_nonsense_is_ignored():
    failing = mesh([2, 2])
    failing.suspect(99, 1, "")
    failing.suspect(0, 7, "")
    assert whom(failing) == []


def test_many_in_one_conflict_are_decided_two_at_a_time():
    clusters = [(str(i), 20 - i) for i in range(14)]
    every = frozenset(range(14))
    watchers = {i: Watcher((i,), {other: [other] for other in every - {i}}) for i in every}
    failing = Failing(Survival(frozenset(map(str, every))), clusters, watchers)
    for a in every:
        for b in every - {a}:
            failing.suspect(a, b, "")
    assert whom(failing) == [1]


GRID = "[cluster.a]\n[cluster.b]\nmay_leave = true\n[cluster.c]\n"


@pytest.mark.parametrize(
    ("text", "survive", "leaving"),
    [(GRID, False, "b"), (GRID, True, "abc"), ("survive = true\n" + GRID, False, "abc")],
)
def test_who_may_leave(text, survive, leaving):
    found = of_run(grids.parse(text, "g.toml"), "abc", survive=survive, least=None)
    everyone = leaving == "abc"
    assert found == Survival(frozenset(leaving), 1, everyone=everyone)


def test_nobody_may_unless_asked():
    grid = grids.parse("[cluster.a]\n[cluster.b]\n", "g.toml")
    assert of_run(grid, "ab", survive=False, least=None) is None


def test_one_cluster_has_nobody_to_go_on():
    grid = grids.parse("[cluster.a]\n", "g.toml")
    assert of_run(grid, "a", survive=True, least=None) is None


@pytest.mark.parametrize(
    ("survive", "least", "said"),
    [(False, 2, "Add --survive"), (True, 3, "the run has 2 clusters")],
)
def test_wrong_min_clusters(survive, least, said):
    grid = grids.parse("[cluster.a]\n[cluster.b]\n", "g.toml")
    with pytest.raises(UsageError, match=said):
        of_run(grid, "ab", survive=survive, least=least)
