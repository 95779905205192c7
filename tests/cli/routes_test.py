"""Links between gateways and the tables of who is next."""

import pytest

from isthmus.errors import UsageError
from isthmus.grid import LinkSpec
from isthmus.routes import (
    check_joined,
    gateway_links,
    neighbours,
    next_clusters,
    next_gateways,
    way,
)


def links(*pairs):
    return [LinkSpec(between=list(pair)) for pair in pairs]


def test_no_links_mean_all_pairs():
    assert list(neighbours("abc", [])) == [(0, 1), (0, 2), (1, 2)]


def test_links_to_clusters_without_ranks_do_not_count():
    assert list(neighbours("ab", links("bc", "ba"))) == [(0, 1)]


def test_chain():
    chain = list(neighbours("abcd", links("ab", "bc", "cd")))
    assert next_clusters(4, chain, 0) == {1: 1, 2: 1, 3: 1}
    assert next_clusters(4, chain, 2) == {3: 3, 1: 1, 0: 1}
    assert way(4, chain, 0, 3) == [0, 1, 2, 3]
    assert way(4, [(0, 1), (2, 3)], 0, 3) == []


def test_shortest_way_and_the_first_of_equals():
    ring = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert next_clusters(4, ring, 0) == {1: 1, 2: 1, 3: 3}


def test_every_table_leads_to_every_goal():
    """Followed hop by hop, on grids of every shape up to five clusters in a tree."""
    for shape in range(5**3):
        parents = [shape % 1, shape % 2, shape // 2 % 3, shape // 6 % 4]
        pairs = [(parents[i - 1], i) for i in range(1, 5)]
        gateways = [[10 * c + g for g in range(1 + (shape + c) % 3)] for c in range(5)]
        spec = {pair: LinkSpec(between=["x", "y"]) for pair in pairs}
        made = gateway_links(spec, gateways)
        linked = {(link.source, link.target) for link in made}
        tables = next_gateways(pairs, gateways, made)
        for start in (node for nodes in gateways for node in nodes):
            for goal in range(5):
                node, hops = start, 0
                while node // 10 != goal:
                    following = tables[node][goal]
                    assert (node, following) in linked or (following, node) in linked
                    node, hops = following, hops + 1
                    assert hops < 5


def test_several_gateways_are_paired():
    spec = {(0, 1): LinkSpec(between=["a", "b"])}
    made = gateway_links(spec, [[1, 2, 3], [4, 5]])
    assert [(link.source, link.target) for link in made] == [(1, 4), (2, 5), (3, 4)]
    tables = next_gateways([(0, 1)], [[1, 2, 3], [4, 5]], made)
    assert tables == {1: {1: 4}, 2: {1: 5}, 3: {1: 4}, 4: {0: 1}, 5: {0: 2}}


def test_grid_in_two_pieces():
    with pytest.raises(UsageError, match="no chain of links joins cluster 'a' to cluster 'c'"):
        check_joined("abcd", links("ab", "cd"), [0, 1, 2])
    check_joined("abcd", links("ab", "cd"), [0, 1])


def test_way_through_a_cluster_without_ranks():
    with pytest.raises(UsageError, match="cluster 'b' has no ranks, but 'a' reaches 'c' only"):
        check_joined("abc", links("ab", "bc"), [0, 2])
    check_joined("abc", links("ab", "bc", "ac"), [0, 2])
