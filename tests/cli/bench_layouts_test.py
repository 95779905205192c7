"""`isthmus bench app`: which ranks of which clusters a layout has."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid.grid import parse as parse_grid
from isthmus_lab.bench.app import layouts, play
from isthmus_lab.bench.app.layouts import HALF, ONE, QUARTER, SPLIT, setup
from isthmus_lab.bench.app.options import Options

GRID = parse_grid("[cluster.a]\nslots = 16\n[cluster.b]\nslots = 8\n", "x")


@pytest.mark.parametrize(
    ("layout", "n", "shares"),
    [
        (ONE, 16, (("a", 16),)),
        (SPLIT, 16, (("a", 8), ("b", 8))),
        (SPLIT, 5, (("a", 3), ("b", 2))),
        (HALF, 16, (("a", 8),)),
        (QUARTER, 16, (("a", 4),)),
        (QUARTER, 6, None),
        (SPLIT, 18, None),
        (ONE, 18, None),
    ],
)
def test_layouts(layout, n, shares):
    found = setup(GRID.cluster, layout, n, None)
    assert (found and found.shares) == shares
    if found:
        assert found.ranks == sum(count for _, count in found.shares)


def test_the_site_may_be_chosen():
    found = setup(GRID.cluster, HALF, 16, "b")
    assert found
    assert found.shares == (("b", 8),)
    assert setup(GRID.cluster, ONE, 16, "b") is None
    with pytest.raises(UsageError, match="--site c: the grid has no such cluster"):
        layouts.check_site(GRID.cluster, "c")


def test_three_clusters_share_alike():
    grid = parse_grid("[cluster.a]\n[cluster.b]\n[cluster.c]\n", "x")
    found = setup(grid.cluster, SPLIT, 8, None)
    assert found
    assert found.shares == (("a", 3), ("b", 3), ("c", 2))


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("[cluster.a]\nslots = 16\n[cluster.b]\nslots = 8\n", 16),
        ("[cluster.a]\nslots = 5\n[cluster.b]\nslots = 5\n[cluster.c]\nslots = 5\n", 8),
        ("[cluster.a]\n[cluster.b]\n", 4),
        ("[cluster.a]\nslots = 1\n[cluster.b]\nslots = 1\n", 2),
    ],
)
def test_as_many_ranks_as_can_be_split(text, most):
    assert layouts.most_ranks(parse_grid(text, "x").cluster) == most


def test_what_fits_no_cluster_is_told_only_where_it_was_asked_for():
    def made(**options) -> set[str]:
        return {one.layout for one in play.setups(GRID, Options(**options))}

    assert made() == {*layouts.LAYOUTS}
    assert made(ranks=(6,)) == {*layouts.LAYOUTS} - {QUARTER}
    slots = r" of 24 ranks \(slots: a 16, b 8\)"
    with pytest.raises(UsageError, match=SPLIT + slots):
        made(ranks=(24,))
    with pytest.raises(UsageError, match=ONE + slots):
        made(ranks=(24,), layouts=(ONE,))
