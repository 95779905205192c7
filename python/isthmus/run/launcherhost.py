"""Which agents are on the launcher's host, and what is lost with that."""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from isthmus.place.beside import Beside
from isthmus.place.plan import AgentPlan, Plan
from isthmus.run.agent import Agent


@cache
def _memory_place() -> str:
    """As agents tell it in `hello` (daemon/host/host.cpp); empty if it cannot be known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        network = Path("/proc/self/ns/net").readlink()
    except OSError:
        return ""
    return f"{boot} {network}{'' if sys.byteorder == 'little' else ' big-endian'}"


def is_here(spec: AgentPlan, agent: Agent) -> bool:
    """Whether it has said hello from this launcher's host. Ssh and batch jobs may lead there,
    too."""
    if spec.host is None and not spec.joins:
        return True
    return bool(agent.memory) and agent.memory == _memory_place()


def _has_vote(plan: Plan, cluster: int) -> bool:
    """Agents agree by their gateways. An agent of ranks without one may still have the launcher
    when all gateways of its cluster have lost it."""
    return any(
        cluster in gateway.clusters
        for spec in plan.agents
        if spec.has_ranks and spec.cluster == cluster
        for gateway in spec.gateways
    )


def beside_launcher(plan: Plan, here: Sequence[AgentPlan]) -> Beside | None:
    """`here` are the agents on this host. Returns None if no cluster is lost with it alone, if all
    are, or if one of them may not fail. Returns None also if an agent of ranks elsewhere has no
    gateway of its cluster."""
    gateways = {gateway.node for spec in here for gateway in spec.gateways}
    clusters = {spec.cluster for spec in here if spec.has_ranks}
    for index in range(len(plan.clusters)):
        serving = {gateway.node for gateway in plan.gateways if index in gateway.clusters}
        if serving and serving <= gateways:
            clusters.add(index)
    if not plan.survival or not 0 < len(clusters) < len(plan.clusters):
        return None
    if not all(_has_vote(plan, index) for index in {*range(len(plan.clusters))} - clusters):
        return None
    if not {plan.clusters[one].name for one in clusters} <= plan.survival.may_leave:
        return None
    return Beside(frozenset(clusters), frozenset(gateways), plan.survival.least)
