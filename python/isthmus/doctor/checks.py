"""The doctor's checks, in this order: each host, the gateways joined as for a run, each link."""

from collections.abc import Sequence

from isthmus.base.errors import IsthmusError
from isthmus.doctor import cores, filesystems, legs, machines, starting, tcp
from isthmus.doctor import links as probes
from isthmus.doctor.findings import Finding, Say
from isthmus.doctor.hosts import HostFacts, examine
from isthmus.doctor.joining import join
from isthmus.doctor.legs import gateway_of, name_of
from isthmus.doctor.links import Measured, UnreachableError
from isthmus.grid import services
from isthmus.grid.addresses import ANYWHERE, Place, split_address
from isthmus.grid.grid import Grid, LinkSpec
from isthmus.grid.reach import names_of
from isthmus.grid.routes import GatewayLink
from isthmus.measuring.ends import End
from isthmus.place.placement import Part
from isthmus.place.plan import GatewayPlan, Plan, make_plan
from isthmus.version import WIRE

THIS_HOST = "this host"
_USUAL = tcp.Path(1e9, 0.01)  # what a host should manage if no grid says more
_ASSUMED_RATE = 1e9


def this_host(say: Say) -> None:
    """Without a grid: checks Isthmus, the MPI and TCP's buffers on this host."""
    try:
        facts = examine(None, None)
    except IsthmusError as error:
        say(Finding(THIS_HOST, "Isthmus", "fail", error.sentence, error.remedy))
        return
    say(machines.version(THIS_HOST, facts))
    say(machines.mpi(THIS_HOST, facts, must=False))
    for finding in tcp.judge(THIS_HOST, facts.name, facts.tcp, _USUAL):
        say(finding)


def grid(model: Grid, say: Say) -> None:
    """All clusters and links of a grid. UsageError when its clusters are not joined."""
    plan = make_plan(model, [Part(["true"], 1, on=name) for name in model.cluster])
    hosts = machines.look(plan, say)
    starting.check(model, machines.that_start(plan, hosts), say)
    machines.compare(plan, hosts, say)
    for finding in cores.judge(plan, hosts):
        say(finding)
    filesystems.check(plan, model.files, hosts, say)
    if plan.gateways and all(facts is not None and facts.wire == WIRE for facts in hosts):
        joined = join(plan)
        say(joined)
        if joined.level == "ok":
            for pair, spec in plan.pairs.items():
                say(legs.of_pair(plan, pair, spec))
            for link in plan.links:
                say(legs.of_gateways(plan, link))
            for cluster in plan.clusters:
                if not cluster.spec.encrypt:
                    say(legs.inside(cluster))
    for gateway in plan.gateways:
        if len(gateway.clusters) > 1:
            _joint(plan, hosts, gateway, say)
    for link in plan.links:
        _link(plan, hosts, link, say)
    for (one, other), spec in plan.pairs.items():
        if spec.reach == "direct":
            _direct(plan, hosts, one, other, say)
            _direct(plan, hosts, other, one, say)


def _joint(plan: Plan, hosts: Sequence[HostFacts | None], gateway: GatewayPlan, say: Say) -> None:
    """Whether the hosts of all its clusters reach a gateway, at its place for each. The hosts of
    the agents stand for all."""
    home, far = plan.agents[gateway.agent], hosts[gateway.agent]
    for cluster in gateway.clusters:
        agent = next((a for a in plan.agents if a.cluster == cluster and a.has_ranks), None)
        if agent is None or agent is home:
            continue
        where = f"{plan.where(agent)} -> gateway {name_of(plan, gateway)}"
        near = hosts[plan.agents.index(agent)]
        if near is None or far is None:
            say(Finding(where, "port", "fail", "not tried: one of its hosts cannot be reached"))
            continue
        if (near.name, near.interfaces) == (far.name, far.interfaces):
            continue  # one host by two names: its ranks need no port
        names = [far.name, *names_of(home.host)]
        end = End(plan.places[cluster].name, agent.host, "", prefix=agent.prefix)
        try:
            found = probes.measure(end, _end(plan, gateway), gateway.place(cluster), names)
        except IsthmusError as error:
            text = error.sentence
            if isinstance(error, UnreachableError):
                text = f"{near.name} cannot reach it: {text}"
            say(Finding(where, "port", "fail", text, error.remedy))
            continue
        say(Finding(where, "port", "ok", f"{near.name} reaches {found.address}"))
        for finding in _path(where, LinkSpec(between=[]), found):
            say(finding)


def _link(plan: Plan, hosts: Sequence[HostFacts | None], link: GatewayLink, say: Say) -> None:
    if link.spec.reach == "ssh" or services.of_link(link):
        return  # the join of the gateways checks it
    if (link.source, link.target) in plan.by_memory:
        return  # it uses no port
    source, target = (gateway_of(plan, node) for node in (link.source, link.target))
    where = f"link {name_of(plan, source)} -> {name_of(plan, target)}"
    near, far = hosts[source.agent], hosts[target.agent]
    if near is None or far is None:
        say(Finding(where, "port", "fail", "not tried: one of its hosts cannot be reached"))
        return
    names = [*names_of(plan.agents[target.agent].host), far.name]
    try:
        place = target.place(link.at)
        found = probes.measure(_end(plan, source), _end(plan, target), place, names)
    except probes.NarrowError as error:
        say(Finding(where, "MTU", "warn", f"from {near.name}, {error.sentence}", error.remedy))
        return
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
    for finding in cores.judge_threads(plan, link, hosts, rate):
        say(finding)
    rtt = max(found.rtt, link.spec.rtt.seconds if link.spec.rtt else 0.0)
    for facts in {plan.agents[g.agent].host: hosts[g.agent] for g in (source, target)}.values():
        assert facts
        path = tcp.Path(rate, rtt)
        for finding in tcp.judge(where, facts.name, facts.tcp, path, link.spec.congestion):
            say(finding)


def _other_ways(plan: Plan, link: GatewayLink, name: str) -> str:
    """The remedy if one end does not reach the other and ports stay closed. `name` is the host that
    tried."""
    source, target = (gateway_of(plan, node) for node in (link.source, link.target))
    near, far = (plan.places[gateway.clusters[0]].name for gateway in (source, target))
    try:
        probes.measure(
            _end(plan, target),
            _end(plan, source),
            source.place(source.clusters[0]),
            [*names_of(plan.agents[source.agent].host), name],
        )
    except IsthmusError:
        return (
            f'If both directions stay closed: reach = "ssh" in the [[link]] between "{near}" and '
            f'"{far}" uses your ssh connections, at the speed of this host\'s line; or name a '
            "[[relay]] that both can dial."
        )
    return (
        f"The other direction is open: put [cluster.{far}] before [cluster.{near}] in the grid "
        "file."
    )


def _direct(plan: Plan, hosts: Sequence[HostFacts | None], near: int, far: int, say: Say) -> None:
    """Whether the one cluster reaches any port on a host of the other, as processes without
    gateways need it. The hosts of the agents stand for all."""
    ends = []
    for cluster in (near, far):
        agent = next(a for a in plan.agents if a.cluster == cluster and a.has_ranks)
        facts = hosts[plan.agents.index(agent)]
        if facts is None:
            return  # reported already
        ends.append((agent, facts, End("", agent.host, "", prefix=agent.prefix)))
    (_, here, source), (agent, there, target) = ends
    where = f"{plan.where(ends[0][0])} -> {plan.where(agent)}"
    local = all(a.host is None for a in plan.agents)
    listen = "tcp:127.0.0.1:0" if local else ANYWHERE
    names = [*names_of(agent.host), there.name]
    try:
        found = probes.measure(source, target, Place(listen), names)
    except IsthmusError as error:
        text = f"{here.name} does not reach {there.name}: {error.sentence}"
        remedy = 'Open all ports between the hosts in the firewalls, or remove reach = "direct".'
        say(Finding(where, "direct", "warn", text, remedy))
        return
    say(Finding(where, "direct", "ok", f"{here.name} reaches {found.address}"))


def _path(where: str, spec: LinkSpec, found: Measured) -> list[Finding]:
    """The measurements, compared with the grid file."""
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
            remedy = (
                "The link carries more than 'rate' of the grid file, but Isthmus keeps to that."
            )
        elif found.rate < 0.5 * said_rate:
            remedy = (
                "One stream gets less than half of that: losses, small buffers (below) or other "
                "traffic."
            )
    findings.append(Finding(where, "rate", "warn" if remedy else "ok", text, remedy))
    return findings


def _end(plan: Plan, gateway: GatewayPlan) -> End:
    agent = plan.agents[gateway.agent]
    name = plan.places[gateway.clusters[0]].name
    return End(name, agent.host, "", prefix=agent.prefix)


def _mtu_of(facts: HostFacts, gateway: GatewayPlan, plan: Plan) -> int:
    """The MTU of the interface with the gateway's address, else of the only one but loopback."""
    told = [text for place in gateway.places for text in (place.listen, place.address)]
    wanted = {split_address(text)[0].strip("[]") for text in told if text}
    others = []
    for interface in facts.interfaces:
        if wanted & set(interface.get("addresses") or []):
            return int(interface.get("mtu") or 0)
        if interface.get("name") != "lo":
            others.append(int(interface.get("mtu") or 0))
    return others[0] if len(others) == 1 else 0
