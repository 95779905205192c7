"""Findings about hosts: each by itself, and whether data of one means the same on another."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from isthmus.base.errors import IsthmusError
from isthmus.base.units import version_line
from isthmus.doctor.findings import Finding, Say
from isthmus.doctor.hosts import HostFacts, NotExaminedError, examine
from isthmus.grid.reach import program_for
from isthmus.place.plan import AgentPlan, Plan
from isthmus.run.bringup import LONG_DOUBLES, MUST_AGREE
from isthmus.run.troubles import SAME_VERSION
from isthmus.version import VERSION, WIRE, build_text, commit

_CLOCK_SLACK = 1.0  # seconds


def look(plan: Plan, say: Say) -> list[HostFacts | None]:
    """Examines the host of each agent, all at once; a host that fails gives None."""

    def at(agent: AgentPlan) -> HostFacts | IsthmusError:
        spec = plan.places[agent.cluster].spec
        try:
            return examine(agent.host, agent.prefix, spec.mpi, spec.launch, spec.setup)
        except IsthmusError as error:
            return error

    with ThreadPoolExecutor(max_workers=16) as pool:
        found = list(pool.map(at, plan.agents))
    for agent, facts in zip(plan.agents, found, strict=True):
        where = plan.where(agent)
        if isinstance(facts, IsthmusError):
            what = facts.what if isinstance(facts, NotExaminedError) else "Isthmus"
            say(Finding(where, what, "fail", facts.sentence, facts.remedy))
            continue
        if agent.host:
            say(
                Finding(
                    where,
                    program_for(agent.host),
                    "ok",
                    f"reached {facts.name} in {facts.took:.1f} s",
                )
            )
        say(version(where, facts))
        if agent.has_ranks:
            spec = plan.clusters[agent.cluster].spec
            say(mpi(where, facts, must=bool(spec.mpi or spec.launch)))
        if finding := _ucx(where, facts, _nets(plan, agent)):
            say(finding)
        if agent.host:
            say(_clock(where, facts))
    return [None if isinstance(facts, IsthmusError) else facts for facts in found]


def that_start(plan: Plan, hosts: Sequence[HostFacts | None]) -> list[str]:
    """The clusters whose launcher is found, by an Isthmus with the same wire protocol."""
    return [
        plan.clusters[agent.cluster].name
        for agent, facts in zip(plan.agents, hosts, strict=True)
        if agent.has_ranks and facts and facts.wire == WIRE and facts.mpi.get("launcher")
    ]


def version(where: str, facts: HostFacts) -> Finding:
    arch = facts.machine.get("arch", "?")
    build = build_text(facts.version, facts.commit, facts.wire)
    machine = f"on {facts.name}, {arch}, {facts.cores} cores"
    if facts.wire == WIRE:
        text = f"version {facts.version} {machine}, Linux {facts.kernel}"
        return Finding(where, "Isthmus", "ok", text)
    here = f"Here it is {build_text(VERSION, commit(), WIRE)}. {SAME_VERSION}"
    return Finding(where, "Isthmus", "fail", f"version {build} {machine}", here)


def mpi(where: str, facts: HostFacts, *, must: bool) -> Finding:
    """Without `mpi` in the grid file, the program decides which MPI it uses."""
    found = facts.mpi
    if "error" in found or not found:
        text = found.get("error", f"{facts.name} did not say which MPI it has")
        remedy = found.get("remedy", "")
        if not must:
            remedy += "\nA program that is linked with an MPI elsewhere may still find its own."
        return Finding(where, "MPI", "fail" if must else "warn", text, remedy.strip())
    if not found.get("library"):
        text = f"started by {found['launcher']}; the program decides on the library"
        return Finding(where, "MPI", "ok", text)
    label = version_line(found.get("version")) or "unknown version"
    return Finding(where, "MPI", "ok", f"{label}, started by {found['launcher']}")


def _nets(plan: Plan, agent: AgentPlan) -> set[str]:
    """The `net` of everything in which the host of an agent takes part."""
    own = {gateway.node for gateway in agent.gateways}
    nets = {link.spec.net for link in plan.links if {link.source, link.target} & own}
    return nets | {plan.places[agent.cluster].spec.net}


def _ucx(where: str, facts: HostFacts, nets: set[str]) -> Finding | None:
    """For a host that is to use UCX; one host of a cluster stands for all."""
    if not nets & {"ucx", "auto"}:
        return None
    if not facts.ucx:
        return Finding(where, "ucx", "ok", f"UCX can be opened on {facts.name}")
    if "ucx" in nets:
        return Finding(where, "ucx", "fail", facts.ucx, "Or set net = 'auto' in the grid file.")
    return Finding(where, "ucx", "warn", f"{facts.ucx}; net = 'auto' uses TCP there", "")


def _clock(where: str, facts: HostFacts) -> Finding:
    off, doubt = facts.clock, facts.clock_doubt
    if abs(off) - doubt <= _CLOCK_SLACK:
        return Finding(where, "clock", "ok", f"within {1e3 * (abs(off) + doubt):.0f} ms of here")
    way = "ahead of" if off > 0 else "behind"
    text = f"{abs(off):.1f} s {way} this host: times in messages cannot be compared"
    return Finding(where, "clock", "warn", text, f"On {facts.name}:\nsudo timedatectl set-ntp true")


def compare(plan: Plan, hosts: Sequence[HostFacts | None], say: Say) -> None:
    """Errors where `isthmus run` would refuse, and what becomes of long double if it differs."""
    ranked = [
        (agent, facts)
        for agent, facts in zip(plan.agents, hosts, strict=True)
        if agent.has_ranks and facts
    ]
    for agent, facts in ranked[1:]:
        where, before = plan.where(agent), plan.where(ranked[0][0])
        for key, what in MUST_AGREE.items():
            first, other = ranked[0][1].machine.get(key), facts.machine.get(key)
            if first != other:
                text = f"the {what} is {other} here and {first} in {before}"
                remedy = "All clusters of a grid need the same size of long."
                say(Finding(where, "machine", "fail", text, remedy))
        first, other = (f.machine.get("byteorder") for f in (ranked[0][1], facts))
        if first != other:
            text = f"the byte order differs from {before}'s: Isthmus converts all data"
            say(Finding(where, "machine", "ok", text))
        first, other = (f.machine.get("long_double") for f in (ranked[0][1], facts))
        if first != other:
            text = f"long double differs from {before}'s: "
            if {first, other} <= LONG_DOUBLES:
                say(Finding(where, "machine", "ok", text + "Isthmus converts it"))
                continue
            text += (
                "Isthmus does not know both formats, so MPI_LONG_DOUBLE and datatypes with it "
                "cannot pass between the two; all others can"
            )
            say(Finding(where, "machine", "warn", text))
