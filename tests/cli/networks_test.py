"""Gateways that stand in several networks, networks, and clusters that only forward."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids
from isthmus.grid.addresses import Place
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.run.report import dry_run

TWO = """
[cluster.a]
host = "a0"
hosts = "a[1-4]"
slots = 4

[cluster.b]
host = "b0"
hosts = "b[1-4]"
slots = 4
"""
NETWORKS = """
[network.blue]
hosts = "a[0-4],z[1-2]"
subnet = "10.1.0.0/16"

[network.green]
hosts = "b[0-4],z[1-2]"
interface = "eth1"
"""
CHAIN = """
[cluster.a]
slots = 1
[cluster.m]
host = "middle"
slots = 1
[cluster.b]
slots = 1
[[link]]
between = ["a", "m"]
[[link]]
between = ["m", "b"]
"""


def plan_of(text, n=8, on=None):
    parts = [Part(["x"], 1, on=name) for name in on] if on else [Part(["x"], n)]
    return make_plan(grids.parse(text, "g.toml"), parts)


def lines(plan):
    return list(dry_run(plan, [["isthmusd"]] * len(plan.agents)))


def test_one_gateway_of_two_clusters():
    plan = plan_of(
        TWO + "[[gateway]]\nclusters = ['a', 'b']\nhost = 'z1'\naddress = ['10.1.0.9', '10.2.0.9']"
    )
    (gateway,) = plan.gateways
    assert gateway.clusters == (0, 1)
    assert gateway.place(0) == Place("tcp:10.1.0.9:0", "tcp:10.1.0.9:0")
    assert gateway.place(1) == Place("tcp:10.2.0.9:0", "tcp:10.2.0.9:0")
    assert gateway.listen == ["tcp:10.1.0.9:0", "tcp:10.2.0.9:0"]
    assert plan.links == []
    assert plan.tables[gateway.node].hops == {0: 0, 1: 0}
    assert [agent.host for agent in plan.agents] == ["a0", "z1", "b0"]
    assert plan.where(plan.agents[1]) == "gateway of clusters a and b on z1"
    assert "gateway a+b joins a and b by itself" in lines(plan)


def test_it_is_beside_an_agent_where_its_host_is_that_agents():
    plan = plan_of(TWO + "[[gateway]]\nclusters = ['a', 'b']\nhost = 'b0'")
    assert [agent.host for agent in plan.agents] == ["a0", "b0"]
    assert plan.agents[1].gateways == plan.gateways


def test_where_one_of_its_clusters_has_no_ranks_it_is_the_others():
    text = TWO + "[cluster.c]\nslots = 4\n[[gateway]]\nclusters = ['a', 'b']\nhost = 'z1'\n"
    text += "address = ['10.1.0.9', '10.2.0.9']"
    plan = plan_of(text, on=["b", "c"])
    assert [gateway.clusters for gateway in plan.gateways] == [(0,), (1,)]
    assert plan.gateways[0].listen == ["tcp:10.2.0.9:0"]
    assert len(plan.links) == 1


def test_hosts_in_two_networks_are_gateways_by_themselves():
    plan = plan_of(TWO + NETWORKS)
    assert [gateway.clusters for gateway in plan.gateways] == [(0, 1), (0, 1)]
    assert plan.gateways[0].listen == ["tcp:10.1.0.0/16:0", "tcp:%eth1:0"]
    assert plan.gateways[0].place(1).address is None, "as the agent says it"
    assert [agent.host for agent in plan.agents] == ["a0", "z1", "z2", "b0"]
    assert plan.links == []


def test_a_gateway_that_is_written_down_is_as_it_says():
    plan = plan_of(
        TWO + NETWORKS + "[[gateway]]\nhost = 'z2'\nclusters = ['b', 'a']\nport = '7400'"
    )
    assert [gateway.clusters for gateway in plan.gateways] == [(0, 1), (1, 0)]
    assert plan.gateways[1].listen == ["tcp:[::]:7400"]


def test_an_agents_host_in_both_networks():
    plan = plan_of(TWO.replace('"b0"', '"me@z1"') + NETWORKS.replace("z[1-2]", "z1"))
    (gateway,) = plan.gateways
    assert plan.agents[gateway.agent].host == "me@z1"
    assert plan.agents[gateway.agent].has_ranks


def test_a_cluster_without_ranks_forwards():
    plan = plan_of(CHAIN, on=["a", "b"])
    assert [cluster.name for cluster in plan.clusters] == ["a", "b"]
    assert [cluster.name for cluster in plan.forwarding] == ["m"]
    middle = plan.gateways[2]
    assert middle.clusters == (2,)
    assert plan.tables[plan.gateways[0].node].next[1] == [middle.node]
    assert plan.tables[middle.node].hops == {0: 1, 1: 1}
    assert "gateway of cluster m on middle: only forwards" in lines(plan)


def test_it_does_not_where_it_need_not():
    around = CHAIN + "[[link]]\nbetween = ['a', 'b']"
    assert plan_of(around, on=["a", "b"]).forwarding == []


def test_two_links_are_two_gateways():
    text = TWO + "[[gateway]]\ncluster = 'a'\n[[gateway]]\ncluster = 'a'\nhost = 'a1'\n"
    text += "[[link]]\nbetween = ['a', 'b']\nrate = '1 Gbit/s'\n"
    text += "[[link]]\nbetween = ['b', 'a']\nrate = '2 Gbit/s'\n"
    plan = plan_of(text)
    assert [str(link.spec.rate) for link in plan.links] == ["1 Gbit/s", "2 Gbit/s"]
    assert str(plan.pairs[0, 1].rate) == "3 Gbit/s", "what both carry"
    assert plan.tables[plan.gateways[2].node].next == {
        0: [plan.gateways[0].node, plan.gateways[1].node]
    }
    with pytest.raises(
        UsageError, match="2 links join 'a' and 'b', but the gateways suffice for 1"
    ):
        plan_of(text.replace("[[gateway]]\ncluster = 'a'\nhost = 'a1'\n", ""))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[gateway]]\nclusters = ['a', 'c']", ["g.toml:12: gateway[0].clusters", "'c'"]),
        ("[[gateway]]\nclusters = ['a', 'a']", ["gateway[0].clusters names 'a' twice"]),
        ("[[gateway]]\nclusters = []", ["gateway[0].cluster is missing", "'clusters'"]),
        ("[[gateway]]\ncluster = 'a'\nclusters = ['b']", ["give one of them"]),
        (
            "[[gateway]]\nclusters = ['a', 'b']\naddress = ['x', 'y', 'z']",
            ["g.toml:13: gateway[0].address has 3 entries, but the gateway serves 2 clusters"],
        ),
        ("[[gateway]]\ncluster = 'a'\naddress = [7]", ["an array with one for each"]),
        ("[[gateway]]\ncluster = 'a'\naddress = '10.0/99'", ["must be a subnet"]),
        ("[network.x]\nsubnet = '10.0.0.0/8'", ["network.x.hosts is missing"]),
        ("[network.x]\nhosts = 'n'\nsubnet = 'ten'", ["network.x.subnet must be a subnet"]),
        ("[network.x]\nhosts = 'n'\ninterface = 'a/b'", ["network.x.interface must be the name"]),
        (
            "[network.x]\nhosts = 'n'\nsubnet = '10.0.0.0/8'\ninterface = 'eth0'",
            ["network.x.interface and 'subnet' are both given"],
        ),
        ("[network.x]\nhost = 'n'", ["network.x.host is not a key", "did you mean 'hosts'?"]),
        (
            "[network.x]\nhosts = 'a1,z'\n[network.y]\nhosts = 'z'",
            ["host 'z' is in the networks 'x' and 'y', which hold only cluster 'a'"],
        ),
    ],
)
def test_what_is_wrong_is_told(text, words):
    with pytest.raises(UsageError) as error:
        plan_of(TWO + text)
    for word in words:
        assert word in str(error.value)
