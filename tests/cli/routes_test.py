"""Links between gateways and the tables of who is next."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid.grid import LinkSpec
from isthmus.grid.routes import (
    forwarding,
    gateway_links,
    named_links,
    neighbours,
    next_clusters,
    tables,
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


def follow(table, start, goal, goals, most):
    """Hops of every way that the tables know from `start` to the `goals`, those of a cluster."""
    assert table[start].hops[goal] <= most
    if start in goals:
        assert table[start].hops[goal] == 0
        return
    following = table[start].next[goal]
    assert following
    for node in following:
        assert table[node].hops[goal] == table[start].hops[goal] - 1
        follow(table, node, goal, goals, most)


def test_every_table_leads_to_every_goal():
    """Followed hop by hop, on grids of every shape up to five clusters in a tree."""
    for shape in range(5**3):
        parents = [shape % 1, shape % 2, shape // 2 % 3, shape // 6 % 4]
        pairs = [(parents[i - 1], i) for i in range(1, 5)]
        gateways = [[10 * c + g for g in range(1 + (shape + c) % 3)] for c in range(5)]
        spec = {pair: [LinkSpec(between=["x", "y"])] for pair in pairs}
        table = tables(5, gateways, gateway_links(spec, gateways))
        for start in (node for nodes in gateways for node in nodes):
            for goal in range(5):
                follow(table, start, goal, gateways[goal], 4)


def spec(*pairs):
    return {pair: [LinkSpec(between=["x", "y"])] for pair in pairs}


def ends(made):
    return [(link.source, link.target) for link in made]


def test_several_gateways_are_paired_and_each_link_of_one_is_a_way():
    gateways = [[1, 2, 3], [4, 5]]
    made = gateway_links(spec((0, 1)), gateways)
    assert ends(made) == [(1, 4), (2, 5), (3, 4)]
    table = tables(2, gateways, made)
    assert {node: table[node].next for node in table} == {
        1: {1: [4]},
        2: {1: [5]},
        3: {1: [4]},
        4: {0: [1, 3]},
        5: {0: [2]},
    }


def test_two_links_of_a_pair_are_of_two_gateways():
    both = [LinkSpec(between=["a", "b"], rtt="1 ms"), LinkSpec(between=["a", "b"], rtt="2 ms")]
    made = gateway_links({(0, 1): both}, [[1], [2, 3]])
    assert [(link.source, link.target, str(link.spec.rtt)) for link in made] == [
        (1, 2, "1 ms"),
        (1, 3, "2 ms"),
    ]
    with pytest.raises(UsageError, match="2 links join 'a' and 'b', but the gateways"):
        gateway_links({(0, 1): both}, [[1], [2]])


def test_a_gateway_of_two_clusters_needs_no_link():
    assert gateway_links(spec((0, 1)), [[1], [1]]) == []
    assert gateway_links(spec((0, 1)), [[1, 2], [1, 2]]) == []
    table = tables(2, [[1], [1]], [])
    assert table[1].hops == {0: 0, 1: 0}
    assert table[1].next == {}


def test_other_gateways_of_the_two_are_linked_with_each_other_or_with_it():
    assert ends(gateway_links(spec((0, 1)), [[1, 2], [2, 3]])) == [(1, 3)]
    made = gateway_links(spec((0, 1)), [[1, 2], [2]])
    assert [(link.source, link.target, link.at) for link in made] == [(1, 2, 0)]


def test_gateways_of_networks_that_lie_apart_are_linked_over_the_one_between():
    """Four clusters in a row, each two joined by a gateway: 1, 3 and 2."""
    gateways = [[1], [1, 3], [3, 2], [2]]
    made = gateway_links(spec((0, 1), (1, 2), (2, 3)), gateways)
    assert sorted(tuple(sorted(pair)) for pair in ends(made)) == [(1, 3), (2, 3)]
    assert all({link.source, link.target} <= set(gateways[link.at]) for link in made)


def test_a_tree_of_bridges():
    """a and b share 1, b and c share 2: these meet in b."""
    gateways = [[1], [1, 2], [2]]
    made = gateway_links(spec((0, 1), (1, 2)), gateways)
    assert [(link.source, link.target, link.at) for link in made] == [(1, 2, 1)]
    table = tables(3, gateways, made)
    assert table[1].next == {2: [2]}
    assert table[2].next == {0: [1]}


def test_grid_in_two_pieces():
    two = list(neighbours("abcd", links("ab", "cd")))
    with pytest.raises(UsageError, match="no chain of links joins cluster 'a' to cluster 'c'"):
        forwarding("abcd", two, [0, 1, 2])
    assert forwarding("abcd", two, [0, 1]) == []


def test_a_cluster_without_ranks_forwards_where_it_must():
    assert forwarding("abc", neighbours("abc", links("ab", "bc")), [0, 2]) == [1]
    assert forwarding("abc", neighbours("abc", links("ab", "bc", "ac")), [0, 2]) == []


def two_links(left, right):
    specs = [LinkSpec(between=["a", "b"], name="fast"), LinkSpec(between=["a", "b"])]
    pairs = {(0, 1): specs}
    return named_links(pairs, gateway_links(pairs, [left, right]))


def test_a_link_with_a_name_has_gateways_of_its_own():
    (fast,) = two_links([10, 11], [20, 21])
    assert (fast.spec.name, fast.pair, fast.gateways) == ("fast", (0, 1), [10, 20])
    with pytest.raises(UsageError, match=r"link 'fast' shares a gateway .* 'a' and 'b'"):
        two_links([10, 11], [20])


def test_alone_it_has_all_of_its_pair():
    pairs = {(0, 1): [LinkSpec(between=["a", "b"], name="fast")]}
    (fast,) = named_links(pairs, gateway_links(pairs, [[10, 11], [20]]))
    assert fast.gateways == [10, 11, 20]
