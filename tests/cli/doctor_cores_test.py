"""The doctor on cores: threads of gateways, and cores that are shared out by sessions."""

import dataclasses

import pytest

from isthmus.doctor import checks, machines
from isthmus.doctor.cores import judge_threads
from isthmus.doctor.hosts import HostFacts
from isthmus.grid.grid import Grid
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan


@pytest.mark.parametrize(
    ("rate", "threads", "cores", "keys", "said"),
    [
        ("20 Gbit/s", 1, 64, {}, ["threads = 4"] * 2),
        ("20 Gbit/s", 2, 64, {}, ["threads = 4"] * 2),
        ("20 Gbit/s", 4, 64, {}, []),
        ("20 Gbit/s", 1, 3, {}, ["threads = 2"] * 2),
        ("20 Gbit/s", 1, 2, {}, []),
        ("4 Gbit/s", 1, 64, {}, []),
        ("20 Gbit/s", 1, 64, {"encrypt": False}, []),
    ],
)
def test_threads_where_a_link_carries_more_than_one_thread(rate, threads, cores, keys, said):
    names = ("east", "west")
    model = {
        "cluster": {name: {"host": f"{name}-head"} for name in names},
        "gateway": [{"cluster": name, "threads": threads} for name in names],
        "link": [{"between": list(names), "rate": rate, **keys}],
    }
    plan = make_plan(Grid.model_validate(model), [Part(["x"], 2)])
    hosts = [HostFacts(name, "1", "6.1", cores, {}, {}) for name in names]
    found = [
        finding
        for link in plan.links
        for finding in judge_threads(plan, link, hosts, link.spec.rate.bits)
    ]
    assert [finding.remedy.rpartition(": ")[2] for finding in found] == said
    assert [finding.level for finding in found] == ["warn"] * len(said)


def test_threads_of_a_relay():
    names = ("east", "west")
    model = {"cluster": {name: {"host": name} for name in names}, "relay": [{"host": "r"}]}
    plan = make_plan(Grid.model_validate(model), [Part(["x"], 2)])
    hosts = [HostFacts(name, "1", "6.1", 1, {}, {}) for name in names]
    hosts.append(HostFacts("r", "1", "6.1", 8, {}, {}))
    (found,) = judge_threads(plan, plan.links[0], hosts, 18e9)
    assert found.where == "relay on r"
    assert found.remedy == "In the [[relay]]: threads = 4"


def test_cores_that_are_shared_out_by_sessions(monkeypatch):
    """Only where clusters share a host."""
    examined = machines.examine

    def plays(by_session):
        def look(*words, **named):
            return dataclasses.replace(examined(*words, **named), by_session=by_session)

        monkeypatch.setattr(machines, "examine", look)
        found = []
        checks.grid(Grid.model_validate({"cluster": {"east": {}, "west": {}}}), found.append)
        return [finding for finding in found if finding.what == "cores"]

    (finding,) = plays(True)
    assert finding.level == "warn"
    assert "kernel.sched_autogroup_enabled=0" in finding.remedy
    assert plays(False) == []
