"""What the doctor looks at, in this order: each host, the gateways joined as for a run, each
link."""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from isthmus import services, sshlinks
from isthmus.addresses import Place, split_address
from isthmus.agent import Agent, Message
from isthmus.bringup import MUST_AGREE, BringUp
from isthmus.command import agent_command, shielded, users_ssh
from isthmus.doctor import cores, filesystems, tcp
from isthmus.doctor import links as probes
from isthmus.doctor.findings import Finding
from isthmus.doctor.hosts import HostFacts, NotExaminedError, examine
from isthmus.doctor.links import Measured, UnreachableError
from isthmus.errors import IsthmusError, RunError
from isthmus.grid import Grid, LinkSpec
from isthmus.limits import Limits
from isthmus.measuring.place import End
from isthmus.placement import Part
from isthmus.plan import AgentPlan, ClusterPlan, GatewayPlan, Plan, make_plan
from isthmus.relay import Voice
from isthmus.routes import GatewayLink
from isthmus.units import version_line
from isthmus.version import VERSION

THIS_HOST = "this host"
_CLOCK_SLACK = 1.0  # seconds
_USUAL = tcp.Path(1e9, 0.01)  # what a host should be good for, where no grid says more
_ASSUMED_RATE = 1e9

Say = Callable[[Finding], None]


def this_host(say: Say) -> None:
    """Without a grid: is Isthmus whole here, which MPI is there, how far do TCP's buffers go?"""
    try:
        facts = examine(None, None)
    except IsthmusError as error:
        say(Finding(THIS_HOST, "Isthmus", "fail", error.sentence, error.remedy))
        return
    say(_version(THIS_HOST, facts))
    say(_mpi(THIS_HOST, facts, must=False))
    for finding in tcp.judge(THIS_HOST, facts.name, facts.tcp, _USUAL):
        say(finding)


def grid(model: Grid, say: Say) -> None:
    """All clusters and links of a grid. UsageError when its clusters are not joined."""
    plan = make_plan(model, [Part(["true"], 1, on=name) for name in model.cluster])
    hosts = _hosts(plan, say)
    _same_machine(plan, hosts, say)
    for finding in cores.judge(plan, hosts):
        say(finding)
    filesystems.check(plan, model.files, hosts, say)
    if plan.links and all(facts is not None and facts.version == VERSION for facts in hosts):
        joined = _join(plan)
        say(joined)
        if joined.level == "ok":
            for pair, spec in plan.pairs.items():
                say(_leg(plan, pair, spec))
            for link in plan.links:
                say(_leg_of_gateways(plan, link))
            for cluster in plan.clusters:
                if not cluster.spec.encrypt:
                    say(_leg_inside(cluster))
    for link in plan.links:
        _link(plan, hosts, link, say)
    for (one, other), spec in plan.pairs.items():
        if spec.reach == "direct":
            _direct(plan, hosts, one, other, say)
            _direct(plan, hosts, other, one, say)


# -- hosts ----------------------------------------------------------------------------------------


def _hosts(plan: Plan, say: Say) -> list[HostFacts | None]:
    """Of each agent, all at once; None where there is none to speak with."""

    def look(agent: AgentPlan) -> HostFacts | IsthmusError:
        spec = plan.places[agent.cluster].spec
        try:
            return examine(agent.host, agent.prefix, spec.mpi, spec.launch, spec.setup)
        except IsthmusError as error:
            return error

    with ThreadPoolExecutor(max_workers=16) as pool:
        found = list(pool.map(look, plan.agents))
    for agent, facts in zip(plan.agents, found, strict=True):
        where = plan.where(agent)
        if isinstance(facts, IsthmusError):
            what = facts.what if isinstance(facts, NotExaminedError) else "Isthmus"
            say(Finding(where, what, "fail", facts.sentence, facts.remedy))
            continue
        if agent.host:
            say(Finding(where, "ssh", "ok", f"reached {facts.name} in {facts.took:.1f} s"))
        say(_version(where, facts))
        if agent.has_ranks:
            spec = plan.clusters[agent.cluster].spec
            say(_mpi(where, facts, must=bool(spec.mpi or spec.launch)))
        if finding := _ucx(where, facts, _nets(plan, agent)):
            say(finding)
        if agent.host:
            say(_clock(where, facts))
    return [None if isinstance(facts, IsthmusError) else facts for facts in found]


def _version(where: str, facts: HostFacts) -> Finding:
    arch = facts.machine.get("arch", "?")
    text = f"version {facts.version} on {facts.name}, {arch}, {facts.cores} cores"
    if facts.version == VERSION:
        return Finding(where, "Isthmus", "ok", f"{text}, Linux {facts.kernel}")
    remedy = (
        f"Here it is {VERSION}. Install the same version on both, or name another one by 'prefix' "
        "in the grid file."
    )
    return Finding(where, "Isthmus", "fail", text, remedy)


def _mpi(where: str, facts: HostFacts, *, must: bool) -> Finding:
    """Without `mpi` in the grid file, the program itself says which MPI it wants."""
    found = facts.mpi
    if "error" in found or not found:
        text = found.get("error", f"{facts.name} did not say which MPI it has")
        remedy = found.get("remedy", "")
        if not must:
            remedy += "\nA program that is linked with an MPI elsewhere may still find its own."
        return Finding(where, "MPI", "fail" if must else "warn", text, remedy.strip())
    if not found.get("library"):
        text = f"started by {found['launcher']}; the program says which library"
        return Finding(where, "MPI", "ok", text)
    label = version_line(found.get("version")) or "unknown version"
    return Finding(where, "MPI", "ok", f"{label}, started by {found['launcher']}")


def _nets(plan: Plan, agent: AgentPlan) -> set[str]:
    """The `net` of all that the host of an agent takes part in."""
    own = {gateway.node for gateway in agent.gateways}
    nets = {link.spec.net for link in plan.links if {link.source, link.target} & own}
    return nets | {plan.places[agent.cluster].spec.net}


def _ucx(where: str, facts: HostFacts, nets: set[str]) -> Finding | None:
    """Of a host that is to use it; one host of a cluster stands for all."""
    if not nets & {"ucx", "auto"}:
        return None
    if not facts.ucx:
        return Finding(where, "ucx", "ok", f"UCX can be opened on {facts.name}")
    if "ucx" in nets:
        return Finding(where, "ucx", "fail", facts.ucx, "Or say net = 'auto' in the grid file.")
    return Finding(where, "ucx", "warn", f"{facts.ucx}; net = 'auto' is TCP there", "")


def _clock(where: str, facts: HostFacts) -> Finding:
    off, doubt = facts.clock, facts.clock_doubt
    if abs(off) - doubt <= _CLOCK_SLACK:
        return Finding(where, "clock", "ok", f"within {1e3 * (abs(off) + doubt):.0f} ms of here")
    way = "ahead of" if off > 0 else "behind"
    text = f"{abs(off):.1f} s {way} this host: times in messages will not fit together"
    return Finding(where, "clock", "warn", text, f"On {facts.name}:\nsudo timedatectl set-ntp true")


def _same_machine(plan: Plan, hosts: Sequence[HostFacts | None], say: Say) -> None:
    """As `isthmus run` insists; and a word on long double, where it differs."""
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
                remedy = "A grid needs clusters of one byte order and one size of long."
                say(Finding(where, "machine", "fail", text, remedy))
        if ranked[0][1].machine.get("long_double") != facts.machine.get("long_double"):
            text = (
                f"long double differs from {before}'s: MPI_LONG_DOUBLE and datatypes with it "
                "cannot pass between the two; all others can"
            )
            say(Finding(where, "machine", "warn", text))


# -- gateways -------------------------------------------------------------------------------------


def _join(plan: Plan) -> Finding:
    """Brings up agents and gateways as a run does, but no ranks."""
    count = len(plan.links)
    where = f"{len(plan.gateways)} gateways"
    try:
        asyncio.run(_bring_up(plan))
    except IsthmusError as error:
        return Finding(where, "joined", "fail", error.sentence, error.remedy)
    links = "1 link" if count == 1 else f"{count} links"
    return Finding(where, "joined", "ok", f"{links}, authenticated, as for a run")


async def _bring_up(plan: Plan) -> None:
    async def heard(agent: Agent, message: Message, payload: bytes) -> None:
        if message["op"] in ("error", "fault"):
            trouble.append(f"{agent.label}: {message.get('message')}")

    def lost(agent: Agent, sentence: str) -> None:
        trouble.append(sentence)

    trouble: list[str] = []
    agents = []
    for spec in plan.agents:
        role = "agent" if spec.has_ranks else "gateway"
        setup = plan.places[spec.cluster].spec.setup if spec.has_ranks else ()
        command = agent_command(spec.host, spec.prefix, ".", role, setup, spec.door)
        command = shielded(command) if spec.host else command
        agents.append(Agent(plan.where(spec), command, target=spec.host))
    limits = Limits(link=20)
    steps = BringUp(plan, agents, secrets.token_hex(32), limits, Voice(verbose=False))
    try:
        await asyncio.gather(*(agent.start(heard, lost) for agent in agents))
        await steps.greet()
        await steps.configure()
        # Where no launcher is found a program may bring its own: told already, with the MPI.
        with contextlib.suppress(RunError):
            await steps.inspect()
        await steps.link()
        if trouble:
            raise RunError(trouble[0])
    finally:
        await asyncio.gather(*(agent.close(limits.close) for agent in agents))
        if plan.door:
            sshlinks.close(
                plan.door, [a.host for a in plan.agents if a.door and a.host], users_ssh()
            )


def _leg(plan: Plan, pair: tuple[int, int], spec: LinkSpec) -> Finding:
    """By which the processes of two clusters reach each other, in the words of `--stats`."""
    where = " - ".join(plan.clusters[i].name for i in pair)
    if pair in plan.shared:
        text = "memory: the processes of both are on one host"
    elif spec.reach == "direct":
        net = "UCX" if spec.net == "ucx" else "UCX where both hosts have it, else TCP"
        text = "direct: from process to process by "
        text += "TCP" if spec.net == "tcp" or spec.encrypt else net
    else:
        text = "gateways"
    return Finding(where, "leg", "ok", text)


def _leg_of_gateways(plan: Plan, link: GatewayLink) -> Finding:
    """By which two linked gateways reach each other."""
    source, target = (_gateway(plan, node) for node in (link.source, link.target))
    where = f"link {_name(plan, source)} -> {_name(plan, target)}"
    if (link.source, link.target) in plan.by_memory:
        text = "memory: both gateways are on one host"
    elif service := services.of_link(link):
        text = f"TCP, through the service {service[0]}"
    elif link.spec.reach == "ssh":
        text = "ssh"
    elif link.spec.encrypt or link.spec.net == "tcp":
        text = "TCP"
    else:
        text = "UCX" if link.spec.net == "ucx" else "UCX where both hosts have it, else TCP"
    return Finding(where, "leg", "ok", text)


def _leg_inside(cluster: ClusterPlan) -> Finding:
    """By which the ranks of a cluster reach their gateways, where that is not as ever."""
    net = "UCX" if cluster.spec.net == "ucx" else "UCX where both hosts have it, else TCP"
    text = "TCP" if cluster.spec.net == "tcp" else net
    text += ", between hosts not encrypted"
    return Finding(f"cluster {cluster.name}, ranks - gateways", "leg", "ok", text)


# -- links ----------------------------------------------------------------------------------------


def _link(plan: Plan, hosts: Sequence[HostFacts | None], link: GatewayLink, say: Say) -> None:
    if link.spec.reach == "ssh" or services.of_link(link):
        return  # it stands or not as the gateways join
    source, target = (_gateway(plan, node) for node in (link.source, link.target))
    where = f"link {_name(plan, source)} -> {_name(plan, target)}"
    near, far = hosts[source.agent], hosts[target.agent]
    if near is None or far is None:
        say(Finding(where, "port", "fail", "not tried: one of its hosts is not reached"))
        return
    names = [far.name]
    if host := plan.agents[target.agent].host:
        names.insert(0, host.rpartition("@")[2])
    try:
        place = target.place(link.at)
        found = probes.measure(_end(plan, source), _end(plan, target), place, names)
    except IsthmusError as error:
        text, remedy = f"{near.name} cannot reach it: {error.sentence}", error.remedy
        if isinstance(error, UnreachableError):
            remedy += "\n" + _other_ways(plan, link, near.name)
        else:
            text = error.sentence
        say(Finding(where, "port", "fail", text, remedy))
        return
    say(Finding(where, "port", "ok", f"{near.name} reaches {found.address}"))
    for finding in _path(where, link.spec, found):
        say(finding)
    ends = {
        near.name: (_mtu_of(near, source, plan), near.tcp),
        far.name: (_mtu_of(far, target, plan), far.tcp),
    }
    if found.mtu:
        say(tcp.judge_mtu(where, found.mtu, ends))
    rate = link.spec.rate.bits if link.spec.rate else max(found.rate, _ASSUMED_RATE)
    if (link.source, link.target) not in plan.by_memory:
        for finding in cores.judge_threads(plan, link, hosts, rate):
            say(finding)
    rtt = max(found.rtt, link.spec.rtt.seconds if link.spec.rtt else 0.0)
    for facts in {plan.agents[g.agent].host: hosts[g.agent] for g in (source, target)}.values():
        assert facts
        path = tcp.Path(rate, rtt)
        for finding in tcp.judge(where, facts.name, facts.tcp, path, link.spec.congestion):
            say(finding)


def _other_ways(plan: Plan, link: GatewayLink, name: str) -> str:
    """What helps where the one end does not reach the other and ports stay closed. `name` is that
    of the host which tried."""
    source, target = (_gateway(plan, node) for node in (link.source, link.target))
    near, far = (plan.places[gateway.clusters[0]].name for gateway in (source, target))
    host = plan.agents[source.agent].host
    try:
        probes.measure(
            _end(plan, target),
            _end(plan, source),
            source.place(source.clusters[0]),
            [host.rpartition("@")[2], name] if host else [name],
        )
    except IsthmusError:
        return (
            f'Where both ways stay closed: reach = "ssh" in the [[link]] between "{near}" and '
            f'"{far}" goes by your ssh connections, at the speed of this host\'s line; or name a '
            "[[relay]] that both can dial."
        )
    return (
        f"The other way round it is open: put [cluster.{far}] before [cluster.{near}] in the grid "
        "file."
    )


def _direct(plan: Plan, hosts: Sequence[HostFacts | None], near: int, far: int, say: Say) -> None:
    """Whether any port of a host of the one cluster is reached from the other, as processes need
    it that shall do without gateways. The hosts of the agents stand for all."""
    ends = []
    for cluster in (near, far):
        agent = next(a for a in plan.agents if a.cluster == cluster and a.has_ranks)
        facts = hosts[plan.agents.index(agent)]
        if facts is None:
            return  # told already
        ends.append((agent, facts, End("", agent.host, "", prefix=agent.prefix)))
    (_, here, source), (agent, there, target) = ends
    where = f"{plan.where(ends[0][0])} -> {plan.where(agent)}"
    local = all(a.host is None for a in plan.agents)
    listen = "tcp:127.0.0.1:0" if local else "tcp:0.0.0.0:0"
    names = [agent.host.rpartition("@")[2]] if agent.host else []
    try:
        found = probes.measure(source, target, Place(listen), [*names, there.name])
    except IsthmusError as error:
        text = f"{here.name} does not reach {there.name}: {error.sentence}"
        remedy = 'Let the firewalls pass all ports between the hosts, or take reach = "direct" out.'
        say(Finding(where, "direct", "warn", text, remedy))
        return
    say(Finding(where, "direct", "ok", f"{here.name} reaches {found.address}"))


def _path(where: str, spec: LinkSpec, found: Measured) -> list[Finding]:
    """What was measured, against what the grid file says."""
    rtt = f"{1e3 * found.rtt:.3g} ms"
    level, text, remedy = "ok", rtt, ""
    if spec.rtt:
        said = spec.rtt.seconds
        text += f" (the grid file says {spec.rtt})"
        if not 0.67 * said <= found.rtt <= 1.5 * said and abs(found.rtt - said) > 5e-4:
            level, remedy = "warn", f'In the grid file: rtt = "{rtt}"'
    findings = [Finding(where, "RTT", "warn" if level == "warn" else "ok", text, remedy)]
    text = f"{tcp.rough_rate(found.rate)} with one TCP stream"
    if found.retransmitted:
        text += f", {found.retransmitted} packets sent again"
    remedy = ""
    if spec.rate:
        said_rate = spec.rate.bits
        text += f" (the grid file says {spec.rate})"
        if found.rate > 1.05 * said_rate:
            remedy = "The link carries more than 'rate' of the grid file, which Isthmus keeps to."
        elif found.rate < 0.5 * said_rate:
            remedy = (
                "One stream gets less than half of it: losses, small buffers (below) or other "
                "traffic."
            )
    findings.append(Finding(where, "rate", "warn" if remedy else "ok", text, remedy))
    return findings


def _gateway(plan: Plan, node: int) -> GatewayPlan:
    return next(gateway for gateway in plan.gateways if gateway.node == node)


def _name(plan: Plan, gateway: GatewayPlan) -> str:
    name = plan.gateway_name(gateway.node)
    host = plan.agents[gateway.agent].host
    return f"{name} on {host}" if host else name


def _end(plan: Plan, gateway: GatewayPlan) -> End:
    agent = plan.agents[gateway.agent]
    name = plan.places[gateway.clusters[0]].name
    return End(name, agent.host, "", prefix=agent.prefix)


def _mtu_of(facts: HostFacts, gateway: GatewayPlan, plan: Plan) -> int:
    """Of the interface that has the gateway's address, else the only one that is not loopback."""
    told = [text for place in gateway.places for text in (place.listen, place.address)]
    wanted = {split_address(text)[0] for text in told if text}
    others = []
    for interface in facts.interfaces:
        if wanted & set(interface.get("addresses") or []):
            return int(interface.get("mtu") or 0)
        if interface.get("name") != "lo":
            others.append(int(interface.get("mtu") or 0))
    return others[0] if len(others) == 1 else 0
