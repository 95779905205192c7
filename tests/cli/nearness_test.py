"""Clusters reach each other by the places that their agents report."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from isthmus.grid import grid as grids
from isthmus.place.placement import Part
from isthmus.place.plan import AgentPlan, make_plan
from isthmus.run.nearness import Nearness


def near(text: str, memory: tuple[str, str], on: Sequence[str] = ()) -> Nearness:
    """The nearness of two clusters whose hosts have these memories. That of the second also holds
    for hosts without ranks."""
    parts = [Part(["x"], 1, on=name) for name in on] or [Part(["x"], 2)]
    plan = make_plan(grids.parse(text, "grid.toml"), parts)
    agents = [
        (spec, SimpleNamespace(host=f"node{i}", memory=memory[min(spec.cluster, 1)]))
        for i, spec in enumerate(plan.agents)
    ]
    made = Nearness(plan, agents)
    made.here = {0, 1}
    made.memory = dict(enumerate(memory))
    for gateway in plan.gateways:
        at = 9000 + gateway.agent
        made.listening[gateway.node] = [f"unix:/run/{at}", f"tcp:0.0.0.0:{at}"]
    return made


def home_of(made: Nearness, node: int) -> AgentPlan:
    """The agent of a gateway."""
    return next(s for s, _ in made._agents if node in [g.node for g in s.gateways])


ONE_HOST = '[cluster.a]\n[cluster.b]\n[[link]]\nbetween = ["a", "b"]\n'


def test_ranks_of_one_host_share_its_memory_unless_a_link_says_otherwise():
    one = near(ONE_HOST, ("m", "m"))
    link = one._plan.pairs[(0, 1)]
    assert one.share_memory(0, 1, link)
    assert not one.share_memory(0, 1, link.model_copy(update={"reach": "gateway"}))
    one.here = {0}
    assert not one.share_memory(0, 1, link)
    assert not near(ONE_HOST, ("m", "n")).share_memory(0, 1, link)
    assert not near(ONE_HOST, ("", "")).share_memory(0, 1, link)


@pytest.mark.parametrize(
    ("more", "memory", "shared"),
    [
        ("", "mm", True),
        ("", "mn", False),
        ("rate = '1 Gbit/s'\n", "mm", False),
        ("rtt = '10ms'\n", "mm", False),
        ("net = 'ucx'\nencrypt = false\n", "mm", False),
    ],
)
def test_gateways_of_one_host_share_it_unless_a_network_is_meant(more, memory, shared):
    made = near(ONE_HOST + more, tuple(memory))
    link = made._plan.links[0]
    assert made.by_memory(link, home_of(made, link.source)) == shared


@pytest.mark.parametrize("between", ["forwarder", "relay", "service"])
def test_gateways_without_ranks_share_memory_too_but_never_by_a_service(between):
    chain = "[[link]]\nbetween = ['a', 'm']\n[[link]]\nbetween = ['b', 'm']\n"
    text = {
        "forwarder": "[cluster.a]\n[cluster.m]\nslots = 1\n[cluster.b]\n" + chain,
        "relay": "[cluster.a]\n[cluster.b]\n[[relay]]\n",
        "service": "[cluster.a]\n[cluster.b]\n[[relay]]\nservice = 'r'\nkey = '~/key'\n",
    }[between].replace("[cluster.a]", "[cluster.a]\nslots = 1")
    text = text.replace("[cluster.b]", "[cluster.b]\nslots = 1")
    made = near(text, ("m", "m"), ["a", "b"])
    plan = made._plan
    assert len(plan.links) == (1 if between == "service" else 2)
    for link in plan.links:
        shared = made.by_memory(link, home_of(made, link.source))
        assert shared == (between != "service")


def test_ranks_reach_a_gateway_of_their_host_by_its_socket_whoever_started_it():
    gateway = "[[gateway]]\ncluster = 'b'\nhost = 'me-too'\n"
    made = near(ONE_HOST + gateway, ("m", "m"))
    alone, ranks = (
        next(s for s, _ in made._agents if s.cluster == 1 and s.has_ranks == has)
        for has in (False, True)
    )
    (found,) = alone.gateways
    assert made.addresses(found.node, ranks, 1)[0].startswith("unix:")


def test_a_gateways_own_socket_is_for_who_shares_the_host():
    made = near(ONE_HOST, ("m", "n"))
    link = made._plan.links[0]
    (target,) = [g for g in made._plan.gateways if g.node == link.target]
    home, _ = made._agents[target.agent]
    other = next(spec for spec, _ in made._agents if spec is not home)
    unix = f"unix:/run/{9000 + target.agent}"
    assert made.addresses(target.node, home, home.cluster)[0] == unix
    assert unix not in made.addresses(target.node, other, link.at)
    assert made.addresses(target.node, other, link.at, by_memory=True)[0] == unix
