"""Rank maps, and where they put ranks."""

import pytest

from isthmus.base import ranklist
from isthmus.base.errors import UsageError
from isthmus.grid.grid import ClusterSpec
from isthmus.place import rankmap
from isthmus.place.placement import Part, place


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("4", [4]),
        ("0-3,8", [0, 1, 2, 3, 8]),
        ("0-6:2", [0, 2, 4, 6]),
        ("0,5-6,9", [0, 5, 6, 9]),
        ("0,2", [0, 2]),
    ],
)
def test_ranks_are_read_as_they_are_written(text, ranks):
    assert ranklist.parse(text) == ranks
    assert ranklist.text(ranks) == text


@pytest.mark.parametrize("text", ["", ",", "1,", "a", "1-", "-1", "1-5:0", "1-2-3", "5-1", "9" * 9])
def test_what_is_no_list_of_ranks(text):
    with pytest.raises(ValueError, match=r"list of ranks|counts down|stride|at most"):
        ranklist.parse(text)


def clusters(**slots):
    return {name: ClusterSpec(slots=n) for name, n in slots.items()}


def part(n=None, **more):
    return Part(argv=["x"], n=n, **more)


def test_a_map_says_it_of_each_rank():
    found = rankmap.parse("# of a ring\n0,3-4 west # the first\n\n1-2,5 east\n", "m")
    assert found.clusters == ("west", "east", "east", "west", "west", "east")
    blocks = place(clusters(east=4, west=4), [part()], found)
    assert [(b.cluster, b.first, b.size, [*b.world_ranks]) for b in blocks] == [
        ("west", 0, 3, [0, 3, 4]),
        ("east", 3, 3, [1, 2, 5]),
    ]


def test_the_cluster_of_rank_0_comes_first():
    blocks = place(clusters(a=2, b=2), [part()], rankmap.parse("0 b\n1 a\n", "m"))
    assert [(b.cluster, b.ranks) for b in blocks] == [("b", None), ("a", None)]


def test_a_map_of_blocks_changes_nothing():
    found = rankmap.parse("0-2 a\n3-5 b", "m")
    assert all(b.ranks is None for b in place(clusters(a=3, b=3), [part(6)], found))


def test_what_is_written_is_read():
    names = ["b", "a", "b", "b", "a"]
    text = rankmap.written(names, ["by hand"])
    assert text == "# by hand\n0,2-3 b\n1,4 a\n"
    assert [*rankmap.parse(text, "m").clusters] == names


def test_parts_have_ranks_in_the_order_of_the_command_line():
    first, second = part(3), part()
    east, west = place(
        clusters(east=None, west=None),
        [first, second],
        rankmap.parse("0-4:2 east\n1-5:2 west", "m"),
    )
    assert east.parts == [(2, first), (1, second)]
    assert west.parts == [(1, first), (2, second)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 east\n0-1 west", "m:2: rank 0 is also on line 1"),
        ("0 east\n2-9 west", "m: the rank map goes to rank 9 but has no line for rank 1"),
        ("9 east", "no line for ranks 0, 1, 2, 3, 4, ..."),
        ("0 east west", "m:1: '0 east west' is not ranks and a cluster"),
        ("0, 1 east", "m:1: '0, 1 east' is not ranks and a cluster"),
        ("\neast 0", "m:2: 'east' is not a list of ranks"),
        ("3-1 east", "m:1: '3-1' counts down"),
        ('{"format":"isthmus-profile"}', "m is not a rank map"),
        ("x" * 70 + " 1 2", "m:1: '" + "x" * 60 + "' is not ranks and a cluster"),
        ("# nothing", "m: the rank map has no ranks"),
    ],
)
def test_what_is_no_map(text, message):
    with pytest.raises(UsageError) as error:
        rankmap.parse(text, "m")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "parts", "message"),
    [
        ("0 east\n1 wset", [part()], "m:2: the grid has no cluster 'wset'; did you mean 'west'?"),
        (
            "0-1 east\n2 east\n3 west",
            [part()],
            "m:2: cluster 'east' has 2 slots, but the map gives it 3 ranks",
        ),
        ("0 east\n1 west", [part(1)], "m has 2 ranks, but -n asks for 1"),
        ("0 east\n1 west", [part(3)], "m has 2 ranks, but -n asks for 3"),
        ("0 east\n1 west", [part(2), part()], "asks for 2, which leaves none for 'x'"),
        ("0 east\n1 west", [part(), part()], "'x' has no -n, nor has 'x'"),
        (
            "0 east\n1 west",
            [part(2, on="east")],
            "--on east: m already gives the cluster of each rank",
        ),
    ],
)
def test_what_does_not_fit(text, parts, message):
    with pytest.raises(UsageError) as error:
        place(clusters(east=2, west=2), parts, rankmap.parse(text, "m"))
    assert message in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot read the rank map"):
        rankmap.load(tmp_path / "none")


def test_a_map_that_is_too_long():
    lines = [f"{rank} {'a' if rank * 7919 % 65537 % 2 else 'b'}" for rank in range(60000)]
    with pytest.raises(UsageError, match="too long for the environment"):
        place(clusters(a=None, b=None), [part()], rankmap.parse("\n".join(lines), "m"))
