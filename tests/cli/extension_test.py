"""Clusters that a running world takes in: spare ones, and those that have failed."""

from copy import deepcopy

import pytest

from isthmus.base.errors import RunError, UsageError
from isthmus.grid import grid as grids
from isthmus.grid.addresses import ANYWHERE
from isthmus.grid.grid import ClusterSpec
from isthmus.place.extension import Extensions, extend, ways_to
from isthmus.place.placement import Block, Part
from isthmus.place.plan import ClusterPlan, Plan, listen_of, make_plan
from isthmus.place.survival import Survival
from isthmus.run.spawnplan import Command, grow

THREE = "[cluster.east]\n[cluster.west]\n[cluster.south]\n"
CHAIN = """[[link]]
between = ["east", "west"]
[[link]]
between = ["west", "south"]
"""


def planned(text: str = THREE, *spares: str, n: int = 2) -> Plan:
    return make_plan(grids.parse(text, "grid.toml"), [Part(["x"], n)], spares=spares)


def links(plan: Plan, made) -> list[tuple[str, str]]:
    names = [plan.gateway_name(node) for link in made for node in (link.source, link.target)]
    return list(zip(names[::2], names[1::2], strict=True))


def nodes(plan: Plan, *names: str) -> list[int]:
    return [g.node for g in plan.gateways if plan.places[g.clusters[0]].name in names]


def served(plan: Plan) -> list[list[int]]:
    return [nodes(plan, cluster.name) for cluster in plan.clusters]


def test_spare_clusters_get_no_ranks():
    plan = planned(THREE, "south", n=4)
    assert [(c.name, c.block.size) for c in plan.clusters] == [("east", 2), ("west", 2)]
    assert [c.name for c in plan.spares] == ["south"]
    assert [plan.gateway_name(g.node) for g in plan.gateways] == ["east", "west"]


def test_one_cluster_with_a_spare_has_a_gateway():
    plan = planned("[cluster.east]\n[cluster.south]\n", "south")
    assert not plan.alone
    assert len(plan.gateways) == 1


def test_the_way_to_a_spare_is_kept_open():
    text = THREE + CHAIN
    plan = make_plan(grids.parse(text, "g.toml"), [Part(["x"], 1, on="east")], spares=["south"])
    assert [c.name for c in plan.forwarding] == ["west"]


@pytest.mark.parametrize(
    ("spares", "why"),
    [
        (["suoth"], "--spare suoth: the grid has no such cluster; did you mean 'south'"),
        (["east", "west", "south"], "all clusters of the grid are spare"),
    ],
)
def test_what_cannot_be_spare(spares, why):
    with pytest.raises(UsageError, match=why):
        planned(THREE, *spares)


def test_a_spare_comes_last_with_a_gateway_of_its_own():
    plan = planned(THREE, "south")
    before = [g.node for g in plan.gateways]
    made = extend(plan, plan.spares[0], before, served(plan))
    assert links(plan, made.links) == [("east", "south"), ("west", "south")]
    assert made.nodes == [before[-1] + 1]
    assert plan.places[made.place].name == "south"
    assert plan.agents[made.gateways[0].agent] is made.agents[0]
    assert not made.agents[0].has_ranks
    table = plan.tables[made.nodes[0]]
    assert table.next == {0: [before[0]], 1: [before[1]]}
    assert table.hops == {0: 1, 1: 1}


def test_a_cluster_that_failed_has_new_gateways_and_its_old_place():
    plan = planned(n=3)
    old = nodes(plan, "east")
    living = nodes(plan, "west", "south")
    made = extend(plan, plan.clusters[0], living, served(plan))
    assert links(plan, made.links) == [("east", "west"), ("east", "south")]
    assert not {*old} & {*made.nodes}
    assert plan.tables[made.nodes[0]].next == {1: [living[0]], 2: [living[1]]}
    assert plan.tables[made.nodes[0]].hops[0] == 0
    assert plan.places[made.place].block.size == 0  # it is not the cluster that failed


def test_ways_over_others():
    plan = planned(THREE + CHAIN, "south")
    living = [g.node for g in plan.gateways]
    made = extend(plan, plan.spares[0], living, served(plan))
    assert links(plan, made.links) == [("west", "south")]
    east, west = nodes(plan, "east") + nodes(plan, "west")
    ways = ways_to(plan, made.nodes, [*living, *made.nodes])
    assert ways[east].next[0] == [west]
    assert ways[west].next[0] == made.nodes
    assert [ways[node].hops[0] for node in (east, west, *made.nodes)] == [2, 1, 0]


def test_clusters_that_nothing_joins():
    plan = planned(THREE + CHAIN, n=3)
    east = nodes(plan, "east")
    with pytest.raises(RunError, match="no link of the grid file joins cluster south"):
        extend(plan, plan.clusters[2], east, served(plan))
    plan = planned(THREE + CHAIN + '[cluster.north]\n[[link]]\nbetween = ["north", "south"]\n', n=4)
    living = nodes(plan, "east", "north")
    before = deepcopy(plan)
    with pytest.raises(RunError, match="joins cluster south to cluster east"):
        extend(plan, plan.clusters[2], living, served(plan))
    assert plan == before
    made = extend(plan, plan.clusters[2], nodes(plan, "north"), served(plan))
    assert plan.places[made.place].name == "south"
    assert plan.agents[made.gateways[0].agent] is made.agents[0]


def test_gateways_of_the_grid_file():
    text = THREE + '[[gateway]]\ncluster = "south"\nhost = "login"\nthreads = 2\n'
    plan = planned(text, "south")
    made = extend(plan, plan.spares[0], [g.node for g in plan.gateways], served(plan))
    assert [agent.host for agent in made.agents] == ["login"]
    assert len(made.nodes) == len(made.agents[0].gateways) == 2
    extensions = Extensions()
    extensions.add(made)
    assert extensions.at(made.place) is extensions.named("south") is made
    extensions.drop(made)
    assert extensions.named("south") is None


def test_processes_are_spawned_in_spare_clusters_alone():
    plan = planned(THREE, "south")
    sites: list[ClusterPlan] = [*plan.clusters, *plan.spares]
    command = Command(["a"], 2, cluster="south")
    (growth,) = grow(sites, [command], home=2, index=2, first=2, part=1)
    assert (growth.like, growth.cluster.name) == (2, "south/1")
    with pytest.raises(UsageError, match="it has 'east', 'west'; spare: 'south'"):
        grow(sites, [Command(["a"], 1, cluster="north")], home=0, index=2, first=2, part=1)


def test_further_hosts_reach_gateways_that_come_later():
    """They listen for this host alone while all clusters are on it."""
    plan = planned(THREE, "south")
    assert plan.listen == "tcp:127.0.0.1:0"
    assert listen_of(plan, plan.spares[0]) == plan.listen
    south = ClusterPlan("south", ClusterSpec(host="s1"), Block("south"))
    plan.listen = listen_of(plan, south)
    assert plan.listen == ANYWHERE
    assert listen_of(plan, plan.spares[0]) == ANYWHERE
    plan.spares[0] = south
    made = extend(plan, south, [g.node for g in plan.gateways], served(plan))
    assert made.gateways[0].listen == [ANYWHERE]


def test_a_cluster_that_comes_later_may_fail_as_others():
    everyone = Survival(frozenset("ab"), 1, everyone=True).extended("c", ClusterSpec())
    assert everyone.may_leave == {"a", "b", "c"}
    some = Survival(frozenset("ac")).extended("c", ClusterSpec())
    assert some.may_leave == {"a"}
    assert some.extended("c", ClusterSpec(may_leave=True)).may_leave == {"a", "c"}
