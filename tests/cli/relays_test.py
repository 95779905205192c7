"""Relays: what they are planned as, and what is wrong with them."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids
from isthmus.grid import routes
from isthmus.place.placement import Part
from isthmus.place.plan import Plan, make_plan

CLUSTERS = '[cluster.a]\nhost = "a0"\n[cluster.b]\nhost = "b0"\n[cluster.c]\nhost = "c0"\n'


def planned(text: str, **more) -> Plan:
    return make_plan(grids.parse(text, "grid.toml"), [Part(["x"], 3)], **more)


def links(plan: Plan) -> list[tuple[str, str]]:
    return [(plan.gateway_name(link.source), plan.gateway_name(link.target)) for link in plan.links]


def test_all_meet_at_one():
    plan = planned(CLUSTERS + '[[relay]]\nhost = "r"\naddress = "r:7500"\n')
    assert links(plan) == [("a", "relay"), ("b", "relay"), ("c", "relay")]
    assert plan.size == 3
    assert plan.where(plan.agents[-1]) == "relay on r"
    assert not plan.agents[-1].has_ranks


def test_some_meet_there():
    plan = planned(CLUSTERS + '[[relay]]\nhost = "r"\nbetween = ["a", "b"]\n')
    assert links(plan) == [("a", "c"), ("a", "relay"), ("b", "c"), ("b", "relay")]


def test_two_relays():
    plan = planned(
        CLUSTERS + '[[relay]]\nhost = "r"\nbetween = ["a", "b"]\n'
        '[[relay]]\nhost = "s"\nbetween = ["b", "c"]\n'
    )
    assert ("a", "relay1") in links(plan)
    assert ("c", "relay2") in links(plan)
    assert ("a", "b") not in links(plan)


def test_with_threads_as_many_gateways_stand_there():
    plan = planned(
        CLUSTERS + "[[gateway]]\ncluster = 'a'\nthreads = 2\n"
        "[[relay]]\nhost = 'r'\nbetween = ['a', 'b']\naddress = 'r:7500-7502'\nthreads = 2\n"
    )
    met = [link for link in links(plan) if "relay" in link[1]]
    assert met == [("a/0", "relay/0"), ("a/1", "relay/1"), ("b", "relay/0"), ("b", "relay/1")]
    (agent,) = (agent for agent in plan.agents if agent.host == "r")
    assert len(agent.gateways) == 2


def test_guests_come_to_one_cluster_by_a_relay():
    text = '[cluster.a]\nhost = "a0"\n[[relay]]\nhost = "r"\n'
    assert planned(text).agents == planned('[cluster.a]\nhost = "a0"\n').agents
    assert planned(text, outward=True).relays == set()
    plan = planned(text, guests=True)
    assert links(plan) == [("a", "relay")]
    assert [plan.where(agent) for agent in plan.agents] == ["cluster a on a0", "relay on r"]
    plan = planned(
        text + '[cluster.b]\n[[relay]]\nservice = "s"\nkey = "/k"\nbetween = ["a", "b"]\n'
    )
    assert plan.guest_services == {"s:7500": "/k"}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[[relay]]\nbetween = ["a", "d"]\n', "names a cluster 'd' that is not in the file"),
        ('[cluster.relay]\n[[relay]]\nhost = "r"\n', "is also the name of a cluster"),
        (
            "[[relay]]\nthreads = 3\naddress = 'r:7400-7401'\n",
            "grid.toml:9: relay[0].address has 2 of the 3 ports that its 'threads' need",
        ),
        (
            "[[relay]]\nthreads = 2\nservice = 's'\nkey = '/k'\n",
            "relay[0].threads is for a relay that the run starts",
        ),
        ("[[relay]]\nhosts = 'x'\n", "is not a key of a grid file; did you mean 'host'?"),
    ],
)
def test_what_is_wrong(text, what):
    with pytest.raises(UsageError) as error:
        planned(CLUSTERS + text)
    assert what in str(error.value)


def test_agents_that_dial_in():
    """A gateway whose address is given stands where it did; others are beside the agents."""
    plan = planned(CLUSTERS + '[[gateway]]\ncluster = "b"\naddress = "b0:7400"\n', joining=True)
    joining = [agent for agent in plan.agents if agent.joins]
    assert [agent.host for agent in joining] == [None] * 3
    assert [len(agent.gateways) for agent in joining] == [1, 0, 1]
    (apart,) = (agent for agent in plan.agents if not agent.joins)
    assert plan.where(apart) == "gateway of cluster b on b0"
    assert [gateway.listen for gateway in joining[0].gateways] == [["tcp:[::]:0"]]


def test_setup_and_program_of_a_cluster(grid):
    """Setup has output of its own, and the agent has the environment that setup made."""
    grid.cluster(
        "east",
        'setup = ["echo noise", "export HOW=it"]\nprogram = "/east/app"\nwdir = "/scratch"',
    )
    done = grid.run("-n", "1", "x", "y")
    east = grid.installs["east"]
    assert east.told("inspect")["argv"] == ["/east/app", "y"], done.stderr
    assert east.told("configure")["wdir"] == "/scratch"


def test_a_setup_that_fails(grid):
    grid.cluster("east", 'setup = ["echo no such module >&2; false"]')
    done = grid.run("-n", "1", "x")
    assert done.returncode == 1
    assert "its setup ended with status 1: false\n  | no such module" in done.stderr


@pytest.mark.parametrize(("relays", "joined"), [(1, False), (2, True)])
def test_a_relay_is_lost(relays, joined):
    """Without any other, the clusters do not reach each other."""
    plan = planned(CLUSTERS + "".join(f'[[relay]]\nhost = "r{i}"\n' for i in range(relays)))
    gone = plan.agents[-1].gateways[0].node
    left = {g.node: [c for c in g.clusters if c < 3] for g in plan.gateways if g.node != gone}
    assert routes.all_joined(3, left, plan.links) is joined


# -- by ssh ---------------------------------------------------------------------------------------

BY_SSH = '[[link]]\nbetween = ["a", "b"]\nreach = "ssh"\npatience = "2 min"\n'


def test_links_by_ssh_meet_beside_the_launcher():
    plan = planned(CLUSTERS + BY_SSH + '[[link]]\nbetween = ["b", "c"]\n')
    assert links(plan) == [("a", "launcher"), ("b", "c"), ("b", "launcher")]
    assert [agent.door for agent in plan.agents] == [plan.door, plan.door, None, None]
    by_ssh = next(link.spec for link in plan.links if link.spec.reach == "ssh")
    assert (by_ssh.encrypt, by_ssh.streams) == (False, 1)  # ssh encrypts, and is one connection
    assert by_ssh.patience.seconds == 120
    assert plan.agents[-1].gateways[0].listen == [f"unix:{plan.door}"]


def test_a_cluster_without_ranks_on_the_way_by_ssh():
    text = CLUSTERS + '[[link]]\nbetween = ["a", "c"]\n' + BY_SSH
    plan = make_plan(
        grids.parse(text, "grid.toml"), [Part(["x"], 1, on="b"), Part(["x"], 1, on="c")]
    )
    assert ("a", "launcher") in links(plan)
    assert plan.door


def test_batch_jobs_have_no_ssh():
    with pytest.raises(UsageError) as error:
        planned(CLUSTERS + BY_SSH, joining=True)
    assert "[[relay]]" in str(error.value)


def test_a_cluster_of_the_relays_name():
    with pytest.raises(UsageError, match="rename the cluster"):
        planned("[cluster.launcher]\n" + CLUSTERS + BY_SSH)
