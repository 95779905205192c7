"""Which ranks go where."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid.grid import ClusterSpec
from isthmus.place.placement import Part, place


def clusters(**slots):
    return {name: ClusterSpec(slots=n) for name, n in slots.items()}


def blocks(grid, *parts):
    return [(b.cluster, b.first, b.size) for b in place(grid, parts)]


def part(n=None, on=None, **more):
    return Part(argv=["x"], n=n, on=on, **more)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (5, [("east", 0, 3), ("west", 3, 2)]),
        (4, [("east", 0, 2), ("west", 2, 2)]),
        (1, [("east", 0, 1)]),
        (None, [("east", 0, 1), ("west", 1, 1)]),
    ],
)
def test_halves(n, expected):
    assert blocks(clusters(east=None, west=None), part(n)) == expected


def test_slots_are_filled_in_order():
    grid = clusters(a=4, b=2, c=8)
    assert blocks(grid, part(5)) == [("a", 0, 4), ("b", 4, 1)]
    assert blocks(grid, part()) == [("a", 0, 4), ("b", 4, 2), ("c", 6, 8)]


def test_the_fastest_are_filled_first():
    grid = {name: ClusterSpec(slots=4, speed=speed) for name, speed in (("a", 1), ("b", 2))}
    assert blocks(grid, part(5)) == [("b", 0, 4), ("a", 4, 1)]
    assert blocks(grid, part(1), part(4)) == [("b", 0, 4), ("a", 4, 1)]


def test_without_slots_clusters_have_shares_by_speed():
    grid = {name: ClusterSpec(speed=speed) for name, speed in (("a", 1), ("b", 3), ("c", 1))}
    assert blocks(grid, part(5)) == [("a", 0, 1), ("b", 1, 3), ("c", 4, 1)]
    assert blocks(grid, part(7)) == [("a", 0, 2), ("b", 2, 4), ("c", 6, 1)]
    assert blocks(grid, part(1, "c")) == [("c", 0, 1)]


def test_later_parts_take_what_is_left():
    placed = place(clusters(a=3, b=3), [Part(["x"], 2), Part(["y"], 3)])
    assert [(b.cluster, [(n, p.argv) for n, p in b.parts]) for b in placed] == [
        ("a", [(2, ["x"]), (1, ["y"])]),
        ("b", [(2, ["y"])]),
    ]


def test_parts_on_clusters_in_the_order_of_the_command_line():
    grid = clusters(a=None, b=None)
    assert blocks(grid, part(2, "b"), part(3, "a")) == [("b", 0, 2), ("a", 2, 3)]
    assert blocks(grid, part(1, "a"), part(1, "b"), part(2, "a")) == [("a", 0, 3), ("b", 3, 1)]


def test_on_without_n():
    assert blocks(clusters(a=4, b=2), part(on="b")) == [("b", 0, 2)]
    assert blocks(clusters(a=None, b=None), part(on="b")) == [("b", 0, 1)]


@pytest.mark.parametrize(
    ("grid", "parts", "words"),
    [
        (clusters(a=2, b=2), [part(5)], "the grid has 4 slots left, but 'x' asks for 5"),
        (clusters(a=2, b=2), [part(4), part(1)], "0 slots left"),
        (clusters(a=2, b=2), [part(4), part()], "0 slots left, but 'x' asks for all"),
        (clusters(a=2, b=2), [part(3, "a")], "cluster 'a' has 2 slots left of 2"),
        (clusters(a=2, b=2), [part(2, "a"), part(on="a")], "cluster 'a' has 0 slots left"),
        (clusters(a=2, b=None), [part(3)], "'slots' but 'b' have none"),
        (clusters(east=1), [part(1, "esat")], "no such cluster; did you mean 'east'?"),
        (clusters(a=4), [part(1, wdir="/x"), part(1, wdir="/y")], "different working directories"),
    ],
)
def test_what_does_not_fit(grid, parts, words):
    with pytest.raises(UsageError) as caught:
        place(grid, parts)
    assert words in str(caught.value)


def test_on_a_cluster_of_a_grid_with_some_slots():
    assert blocks(clusters(a=2, b=None), part(9, "b")) == [("b", 0, 9)]
