"""How the kernel shares cores out between ranks of several clusters on one host."""

from collections.abc import Iterator, Sequence

from isthmus.doctor.findings import Finding
from isthmus.doctor.hosts import HostFacts
from isthmus.plan import AgentPlan, Plan


def judge(plan: Plan, hosts: Sequence[HostFacts | None]) -> Iterator[Finding]:
    """`hosts` are those of the plan's agents. A finding for each that shares by sessions."""
    ranked: dict[str, list[AgentPlan]] = {}
    by_session = {facts.name for facts in hosts if facts and facts.by_session}
    for agent, facts in zip(plan.agents, hosts, strict=True):
        if agent.has_ranks and facts:
            ranked.setdefault(facts.name, []).append(agent)
    for host, agents in ranked.items():
        if host in by_session and len(agents) > 1:
            text = (
                "the kernel shares cores out by sessions: where ranks are more than cores, those "
                "of one MPI may starve those of another for seconds"
            )
            remedy = f"On {host}:\nsudo sysctl -w kernel.sched_autogroup_enabled=0"
            yield Finding(plan.where(agents[0]), "cores", "warn", text, remedy)
