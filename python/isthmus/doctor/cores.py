"""Cores: how the kernel shares them between ranks of several clusters on one host, and whether
gateways have enough of them."""

import math
from collections.abc import Iterator, Sequence

from isthmus.base.units import format_rate
from isthmus.doctor.findings import Finding
from isthmus.doctor.hosts import HostFacts
from isthmus.grid import sshlinks
from isthmus.grid.routes import GatewayLink
from isthmus.place.plan import AgentPlan, GatewayPlan, Plan

# One thread of a gateway, encrypted by OpenSSL 3.0, the ranks on the same two cores: 5.1 to 5.3
# Gbit/s on `fatpipe`. libipsec-mb: 7.8 to 8.7 (30 November 2026).
_ONE_THREAD = 5e9


def judge(plan: Plan, hosts: Sequence[HostFacts | None]) -> Iterator[Finding]:
    """`hosts` are those of the plan's agents. A finding for each that shares cores by sessions."""
    ranked: dict[str, list[AgentPlan]] = {}
    by_session = {facts.name for facts in hosts if facts and facts.by_session}
    for agent, facts in zip(plan.agents, hosts, strict=True):
        if agent.has_ranks and facts:
            ranked.setdefault(facts.name, []).append(agent)
    for host, agents in ranked.items():
        if host in by_session and len(agents) > 1:
            text = (
                "the kernel shares cores by sessions (sched_autogroup): with more ranks than "
                "cores, ranks of one MPI may hold up those of another for seconds"
            )
            remedy = f"On {host}:\nsudo sysctl -w kernel.sched_autogroup_enabled=0"
            yield Finding(plan.where(agents[0]), "cores", "warn", text, remedy)


def judge_threads(
    plan: Plan, link: GatewayLink, hosts: Sequence[HostFacts | None], bits: float
) -> Iterator[Finding]:
    """For a link that carries `bits` a second with those beside it: a finding for each end whose
    host could spare more threads for it."""
    if not link.spec.encrypt or bits <= _ONE_THREAD * link.sharing:
        return
    for node in (link.source, link.target):
        gateway = next(g for g in plan.gateways if g.node == node)
        agent, facts = plan.agents[gateway.agent], hosts[gateway.agent]
        if facts is None or gateway is not agent.gateways[0]:
            continue  # the first speaks for all
        if plan.door and plan.places[gateway.clusters[0]].name == sshlinks.MEETING:
            continue  # the grid file has no table for it
        spare = _spare(plan, facts.name, hosts)
        wanted = min(math.ceil(bits / _ONE_THREAD), len(agent.gateways) + spare)
        if wanted > len(agent.gateways):
            text = (
                f"{format_rate(bits)} is more than {_count(link.sharing)} of a gateway can encrypt "
                f"(some {format_rate(_ONE_THREAD)} each), and {facts.name} has spare cores"
            )
            remedy = f"In the {_table(plan, gateway)}: threads = {wanted}"
            yield Finding(plan.where(agent), "threads", "warn", text, remedy)


def _table(plan: Plan, gateway: GatewayPlan) -> str:
    """The table of the grid file that has its key."""
    names = [plan.places[cluster].name for cluster in gateway.clusters]
    if names[0] in plan.relays:
        return "[[relay]]" if names == ["relay"] else f"[[relay]] called {names[0]}"
    return f"[[gateway]] of {' and '.join(names)}"


def _count(threads: int) -> str:
    return "one thread" if threads == 1 else f"{threads} threads"


def _spare(plan: Plan, host: str, hosts: Sequence[HostFacts | None]) -> int:
    """The cores of a host that gateways and, as far as `slots` tells, ranks leave free."""
    spare = 0
    for agent, facts in zip(plan.agents, hosts, strict=True):
        if facts is None or facts.name != host:
            continue
        spare = spare or facts.cores
        spare -= len(agent.gateways)
        spare -= (plan.places[agent.cluster].spec.slots or 1) if agent.has_ranks else 0
    return spare
