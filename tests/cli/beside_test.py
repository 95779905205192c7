"""When a launcher gives way to clusters elsewhere (place/beside.py, run/launcherhost.py)."""

import json
from itertools import chain, combinations, permutations
from pathlib import Path

import pytest

from isthmus.grid import grid as grids
from isthmus.place.beside import Beside
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.place.survival import of_run
from isthmus.run.agent import Agent
from isthmus.run.launcherhost import beside_launcher, is_here

# src/daemon/agent/quorum_test.cpp reads these, too.
CASES = json.loads((Path(__file__).parents[2] / "src/daemon/agent/quorum_cases.json").read_text())


def subsets(of):
    return [frozenset(one) for one in chain.from_iterable(combinations(of, n) for n in range(5))]


def gives_way(ranks, here, lost, dead=(), least=1):
    return Beside(frozenset(here), frozenset(), least).stronger(ranks, lost, dead)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_it_gives_way_to_a_majority_that_may_live(case):
    ranks, here = case["ranks"], case["here"]
    elsewhere = {*range(len(ranks))} - {*here}
    found = gives_way(ranks, here, elsewhere, case["dead"], case["least"])
    assert found == frozenset(case["to"])


def test_it_gives_way_to_nobody_while_it_has_another_cluster():
    assert gives_way([2, 2, 2], {0}, {1}) == frozenset()


def others_go_on(ranks, here, living):
    """The rule of agents without a launcher (src/daemon/agent/quorum.hpp): all clusters elsewhere
    have to agree."""
    elsewhere = {*range(len(ranks))} - here
    return elsewhere <= living and 2 * sum(ranks[one] for one in elsewhere) > sum(ranks)


@pytest.mark.parametrize("ranks", [*permutations([1, 2, 4]), *permutations([1, 2, 3, 5])])
def test_never_do_both_sides_go_on(ranks):
    """The launcher is cut off with the clusters on its host. It may know that some are dead."""
    every = frozenset(range(len(ranks)))
    for here in [one for one in subsets(every) if one and one != every]:
        for dead in subsets(every - here):
            for known in subsets(dead):
                launcher = not gives_way(ranks, here, every - here, known)
                assert not (launcher and others_go_on(ranks, here, every - dead))


GRID = "[cluster.a]\n[cluster.b]\nhost = 'b'\n[cluster.c]\nhost = 'c'\n"
FIRST = 0x80000000


def beside(text, *, survive=True):
    """The Beside of a run on all clusters. Agents without a host are on the launcher's host."""
    grid = grids.parse(text, "g.toml")
    names = [*grid.cluster]
    plan = make_plan(grid, [Part(argv=["x"], n=2 * len(names))])
    plan.survival = of_run(grid, names, survive=survive, least=None)
    return beside_launcher(plan, [agent for agent in plan.agents if agent.host is None])


def test_a_cluster_beside_the_launcher():
    assert beside(GRID) == Beside(frozenset({0}), frozenset({FIRST}), 1)


def test_a_cluster_whose_only_gateway_is_beside_the_launcher():
    found = beside(GRID.replace("host = 'b'", "") + "[[gateway]]\ncluster = 'b'\nhost = 'g'\n")
    assert found is not None
    assert found.clusters == {0, 1}
    found = beside(GRID + "[[gateway]]\nclusters = ['a', 'b']\n")
    assert found is not None
    assert found.clusters == {0, 1}


@pytest.mark.parametrize(
    ("text", "survive"),
    [
        ("[cluster.a]\n[cluster.b]\n", True),
        ("[cluster.a]\nhost = 'a'\n[cluster.b]\nhost = 'b'\n", True),
        (GRID.replace("host = 'b'", "host = 'b'\nmay_leave = true"), False),
        (GRID + "[[gateway]]\ncluster = 'b'\nhost = 'g'\n", True),
    ],
    ids=["all are here", "none is here", "one here has to stay", "the agent of b has no vote"],
)
def test_nobody_gives_way(text, survive):
    assert beside(text, survive=survive) is None


def test_ssh_may_lead_to_the_launchers_host(monkeypatch):
    monkeypatch.setattr("isthmus.run.launcherhost._memory_place", lambda: "boot net:[1]")
    plan = make_plan(grids.parse(GRID, "g.toml"), [Part(argv=["x"], n=6)])
    far = Agent("b", [], target="b")
    assert is_here(plan.agents[0], Agent("a", [], target=None))
    assert not is_here(plan.agents[1], far)
    far.memory = "boot net:[2]"
    assert not is_here(plan.agents[1], far)
    far.memory = "boot net:[1]"
    assert is_here(plan.agents[1], far)
