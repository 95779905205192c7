"""The first message to agents."""

import pytest

from isthmus.grid import grid as grids
from isthmus.place.placement import Part
from isthmus.place.plan import AgentPlan, make_plan
from isthmus.run.configuring import Configuring

PAIR = "[cluster.east]\n[cluster.west]\n"


@pytest.mark.parametrize(("port", "ports"), [(9100, [9100, 9101]), (0, [0, 0])])
def test_each_agent_serves_its_metrics_at_a_port_of_its_own(port, ports):
    plan = make_plan(grids.parse(PAIR, "g.toml"), [Part(["x"], 2)])
    told = Configuring(plan, "secret", ("127.0.0.1", port), None)
    settings = [told.settings(spec) for spec in plan.agents]
    assert [said["metrics"] for said in settings] == [f"tcp:127.0.0.1:{port}" for port in ports]


def test_agents_of_spawned_processes_serve_none():
    plan = make_plan(grids.parse(PAIR, "g.toml"), [Part(["x"], 2)])
    told = Configuring(plan, "secret", ("127.0.0.1", 9100), None)
    assert "metrics" not in told.settings(AgentPlan(0, None, None, has_ranks=True))
