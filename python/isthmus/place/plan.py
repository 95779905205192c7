"""The plan of a run, worked out from grid and placement before anything begins."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import cast, get_args

from isthmus.base.errors import UsageError
from isthmus.base.quantities import Rate
from isthmus.grid import channels, networks, relays, routes, services, sshlinks
from isthmus.grid.addresses import ANYWHERE, Place, is_fixed, places_of
from isthmus.grid.channels import ChannelPlan
from isthmus.grid.grid import ClusterSpec, GatewaySpec, Grid, LinkSpec
from isthmus.grid.gridkeys import SPREADING, Reach
from isthmus.place.beside import Beside
from isthmus.place.placement import Block, Part, place, without_spares
from isthmus.place.rankmap import RankMap
from isthmus.place.survival import Survival


@dataclass(frozen=True)
class ClusterPlan:
    """A cluster with the ranks that it holds; without ranks it only forwards."""

    name: str
    spec: ClusterSpec
    block: Block

    def argv(self, part: Part) -> list[str]:
        """The command for the cluster's ranks: `program` of the grid file is its name there."""
        return [self.spec.program or part.argv[0], *part.argv[1:]]


@dataclass(frozen=True)
class GatewayPlan:
    """`clusters` are the indices of the clusters that it serves; `agent` is an index, too."""

    node: int
    clusters: tuple[int, ...]
    agent: int
    places: tuple[Place, ...]  # one, or one for each cluster

    def place(self, cluster: int) -> Place:
        """The place where the cluster finds it, or where others find it as the cluster's
        gateway."""
        return self.places[self.clusters.index(cluster) if len(self.places) > 1 else 0]

    @property
    def listen(self) -> list[str]:
        return list(dict.fromkeys(place.listen for place in self.places))


@dataclass
class AgentPlan:
    """One isthmusd. Each cluster has one that starts its ranks, and one more for each further host
    with gateways of it. The agent of a gateway of several clusters belongs to the first of them."""

    cluster: int  # of Plan.places
    host: str | None
    prefix: str | None
    has_ranks: bool
    joins: bool = False  # a batch job starts it, and it dials in
    door: str | None = None  # a unix socket here, to which its ssh forwards connections
    gateways: list[GatewayPlan] = field(default_factory=list)


@dataclass
class Plan:
    """A run."""

    job: str
    clusters: list[ClusterPlan]
    forwarding: list[ClusterPlan]
    """Clusters without ranks through which others reach each other; they are not in the world."""
    agents: list[AgentPlan]
    gateways: list[GatewayPlan]
    links: list[routes.GatewayLink]
    pairs: dict[tuple[int, int], LinkSpec]
    named: list[routes.NamedLink]
    tables: dict[int, routes.Table]
    channels: list[ChannelPlan] = field(default_factory=list)
    relays: set[str] = field(default_factory=set)
    """The relays in `forwarding`: those of the grid file, and the launcher's for ssh."""
    services: dict[str, str] = field(default_factory=dict)
    """The files of the user's keys, by "host:port"."""
    door: str | None = None
    """The unix socket of the launcher's relay, where links go by ssh."""
    grown: list[ClusterPlan] = field(default_factory=list)
    """Clusters that the world gained while it runs; they follow `clusters`."""
    shared: set[tuple[int, int]] = field(default_factory=set)
    """Pairs of clusters whose processes share memory; known once programs have been inspected."""
    by_memory: set[tuple[int, int]] = field(default_factory=set)
    """Nodes of linked gateways that share memory where they can; known once they have joined."""
    patience: float = 600.0
    """Seconds, for links without a patience of their own, and for links to other runs."""
    guest_services: dict[str, str] = field(default_factory=dict)
    """As `services`, for all that clusters of this run reach and other runs may meet it at."""
    survival: Survival | None = None
    """The clusters that may fail while the others go on; None: none may."""
    beside: Beside | None = None
    """The clusters that are lost with the launcher's host, if the others may go on without them;
    known once agents have said hello."""
    grid: Grid = field(default_factory=Grid)
    """The grid file, with clusters and links in place of relays."""
    spares: list[ClusterPlan] = field(default_factory=list)
    """Clusters that get ranks by MPI_Comm_spawn alone."""
    extended: list[ClusterPlan] = field(default_factory=list)
    """Clusters whose gateways came while the world was running (extension.py)."""
    joining: bool = False  # agents of ranks dial in from batch jobs
    listen: str = ANYWHERE
    """The addresses of gateways, unless the grid file has others."""
    outward: bool = False
    """Ranks report at the end, or reach other runs, by gateways: even a single cluster needs
    one."""

    @property
    def size(self) -> int:
        return sum(cluster.block.size for cluster in self.clusters)

    @property
    def places(self) -> list[ClusterPlan]:
        return self.clusters + self.forwarding + self.extended

    def cluster_name(self, index: int) -> str:
        """The name of a cluster of the world as it is now."""
        world = [*self.clusters, *self.grown]
        return world[index].name if index < len(world) else f"cluster {index}"

    @property
    def alone(self) -> bool:
        """Whether the world is one cluster: a native job, without Isthmus."""
        return len(self.clusters) == 1 and not self.outward

    def where(self, agent: AgentPlan) -> str:
        name = f"cluster {self.places[agent.cluster].name}"
        if self.places[agent.cluster].name in self.relays:
            name = self.places[agent.cluster].name
            return name if agent.host is None else f"{name} on {agent.host}"
        if not agent.has_ranks:
            served = dict.fromkeys(c for gateway in agent.gateways for c in gateway.clusters)
            if len(served) > 1:
                name = "clusters " + " and ".join(self.places[c].name for c in served)
            name = f"gateway of {name}"
        return name if agent.host is None else f"{name} on {agent.host}"

    def gateway_name(self, node: int) -> str:
        """The names of its clusters, with a number if these have several gateways."""
        gateway = next((g for g in self.gateways if g.node == node), None)
        if gateway is None:
            return str(node)
        nodes = [g.node for g in self.gateways if g.clusters == gateway.clusters]
        name = "+".join(self.places[cluster].name for cluster in gateway.clusters)
        return name if len(nodes) == 1 else f"{name}/{nodes.index(node)}"


def make_plan(
    grid: Grid,
    parts: Sequence[Part],
    ranks: RankMap | None = None,
    *,
    joining: bool = False,
    outward: bool = False,
    guests: bool = False,
    far: bool = False,
    spares: Sequence[str] = (),
) -> Plan:
    """UsageError if ranks do not fit or clusters are not joined. If `joining`, the agents of ranks
    dial in from batch jobs, on hosts that are not known yet. A gateway with a given address still
    stands where the grid file puts it, and is started there. `guests`: other runs may come, also to
    one cluster, and by relays. `far`: runs or ranks on other hosts may come. `spares` are clusters
    that get no ranks at the start."""
    blocks = place(without_spares(grid.cluster, spares), parts, ranks)
    used = {block.cluster for block in blocks} | set(spares)
    if joining:
        sshlinks.refuse_batch_jobs(grid, used)
    # Ranks of one cluster are a grid, too, if their reductions have one order over ranks.
    outward = (
        outward
        or guests
        or bool(spares)
        or any(part.env.get("ISTHMUS_REPRODUCIBLE") for part in parts)
    )
    guest_services = services.of_guests(grid, used)
    relayed = relays.meeting(grid, used, least=1 if guests else 2) | sshlinks.meeting(grid, used)
    keys = {relay.service: relay.key for relay in grid.relay if relay.service and relay.key}
    grid = relays.expanded(grid)
    by_ssh = any(link.reach == "ssh" for link in grid.link)
    grid = sshlinks.expanded(grid)
    job = f"isthmus-{os.urandom(4).hex()}"
    specs = [*grid.gateway, *networks.bridges(grid)]
    clusters, forwarding = _clusters(grid, blocks, specs, relayed, spares)
    waiting = [ClusterPlan(name, grid.cluster[name], Block(name)) for name in spares]
    names = [cluster.name for cluster in clusters + forwarding]
    # A cluster without a gateway gets one beside its agent; a world of one cluster needs none.
    served = {name for spec in specs for name in spec.serves}
    specs += [GatewaySpec(cluster=name) for name in names if name not in served]
    places = clusters + forwarding
    agents = [
        AgentPlan(i, None if joining else c.spec.host, c.spec.prefix, True, joining)
        for i, c in enumerate(clusters)
    ]
    planned: list[tuple[list[int], GatewaySpec, AgentPlan]] = []
    for index in range(len(places) if len(places) > 1 or outward else 0):
        for spec in specs:
            mine = [names.index(name) for name in spec.serves if name in names]
            if mine and mine[0] == index:
                planned += [(mine, spec, _agent_of(agents, places, mine, spec))] * spec.threads
    agents.sort(key=lambda agent: agent.cluster)
    default = ANYWHERE if joining or far else _default_listen(places + waiting, specs)
    door = sshlinks.door(job) if by_ssh and sshlinks.MEETING in names else None
    gateways: list[GatewayPlan] = []
    for mine, spec, agent in planned:
        gateway = GatewayPlan(
            node=routes.FIRST_GATEWAY + len(gateways),
            clusters=tuple(mine),
            agent=agents.index(agent),
            places=(
                (Place(f"unix:{door}"),)
                if door and spec.serves == [sshlinks.MEETING]
                else places_of(spec, names, default)
            ),
        )
        gateways.append(gateway)
        agent.gateways.append(gateway)
    pairs = pairs_of(grid, names, specs)
    nodes = [[g.node for g in gateways if i in g.clusters] for i in range(len(names))]
    links = routes.gateway_links(pairs, nodes) if gateways else []
    links = routes.shared(links, {g.node: g.agent for g in gateways})
    for link in links:
        if link.spec.reach == "ssh":
            source = next(g for g in gateways if g.node == link.source)
            agents[source.agent].door = door if agents[source.agent].host else None
    return Plan(
        job=job,
        clusters=clusters,
        forwarding=forwarding,
        agents=agents,
        gateways=gateways,
        links=links,
        relays=relayed | ({sshlinks.MEETING} if door else set()),
        door=door,
        services={at: keys[at] for link in links for at in services.of_link(link)},
        pairs={
            pair: _both(specs_of) for pair, specs_of in pairs.items() if max(pair) < len(clusters)
        },
        named=routes.named_links(
            {pair: specs_of for pair, specs_of in pairs.items() if max(pair) < len(clusters)}, links
        ),
        tables=routes.tables(len(clusters), nodes, links),
        channels=channels.planned(grid, [cluster.name for cluster in clusters]),
        grid=grid,
        spares=waiting,
        listen=default,
        joining=joining,
        outward=outward,
        patience=grid.patience.seconds,
        guest_services=guest_services,
    )


def _reach_from_environment() -> Reach | None:
    """The reach of links that leave it open."""
    text = os.environ.get("ISTHMUS_REACH", "")
    known = [reach for reach in get_args(Reach) if reach != "ssh"]
    if text and text not in known:
        raise UsageError(
            f"ISTHMUS_REACH is '{text}'", f"Set it to one of {', '.join(known)}, or unset it."
        )
    return cast(Reach, text) if text else None


def memory_wanted() -> bool:
    """Whether gateways share memory with processes and gateways of their host, as they do unless
    ISTHMUS_DEBUG_LEG forbids it."""
    text = os.environ.get("ISTHMUS_DEBUG_LEG", "")
    if text not in ("", "memory", "socket"):
        raise UsageError(
            f"ISTHMUS_DEBUG_LEG is '{text}'", "Set it to 'memory' or 'socket', or unset it."
        )
    return text != "socket"


def names_no_network(link: routes.GatewayLink) -> bool:
    """Whether the grid file leaves the network between its gateways open, so that they may share
    memory on one host."""
    said = link.spec
    tuned = said.rate or said.rtt or said.streams or said.congestion or said.compress
    return said.net != "ucx" and not tuned and not services.of_link(link)


def _clusters(
    grid: Grid,
    blocks: Sequence[Block],
    specs: Sequence[GatewaySpec],
    relayed: Iterable[str],
    spares: Sequence[str],
) -> tuple[list[ClusterPlan], list[ClusterPlan]]:
    """The clusters of the world, and the clusters that only forward, with `relayed` among them."""
    names = list(grid.cluster)
    used = [names.index(block.cluster) for block in blocks]
    always = [names.index(name) for name in relayed]
    pairs = pairs_of(grid, names, specs)
    running = {*used, *always, *routes.forwarding(names, pairs, [*used, *always])}
    for spare in map(names.index, spares):
        running |= {*routes.forwarding(names, pairs, [*running, spare])} - {spare}
    extra = sorted(running - set(used))
    clusters = [ClusterPlan(b.cluster, grid.cluster[b.cluster], b) for b in blocks]
    return clusters, [ClusterPlan(names[i], grid.cluster[names[i]], Block(names[i])) for i in extra]


def pairs_of(
    grid: Grid, names: Sequence[str], specs: Sequence[GatewaySpec]
) -> dict[routes.Pair, list[LinkSpec]]:
    """Neighbouring clusters: joined by links, or by a gateway that stands in both."""
    memory_wanted()  # UsageError if it is set wrongly
    usual = {"patience": grid.patience, "reach": _reach_from_environment()}
    pairs = routes.neighbours(names, grid.link)
    for spec in specs:
        served = sorted(names.index(name) for name in spec.serves if name in names)
        for a, b in combinations(served, 2):
            pairs.setdefault((a, b), [LinkSpec(between=[names[a], names[b]])])
    return {
        pair: [
            link.model_copy(update={k: v for k, v in usual.items() if not getattr(link, k)})
            for link in links
        ]
        for pair, links in sorted(pairs.items())
    }


def _both(links: Sequence[LinkSpec]) -> LinkSpec:
    """The links between two clusters as one."""
    first = links[0]
    if len(links) == 1 or not all(link.rate for link in links):
        return first
    rate = Rate.of(sum(link.rate.bits for link in links if link.rate))
    return first.model_copy(update={"rate": rate})


def _agent_of(
    agents: list[AgentPlan],
    places: Sequence[ClusterPlan],
    clusters: Sequence[int],
    spec: GatewaySpec,
) -> AgentPlan:
    """The agent for a gateway: that of one of its clusters if it is on the host, else one of its
    own, which may be added."""
    home = places[clusters[0]].spec
    host = spec.host or home.host
    for agent in agents:
        if agent.joins:
            if agent.cluster == clusters[0] and not spec.host and not is_fixed(spec):
                return agent
            continue
        if agent.host == host and (
            agent.cluster == clusters[0] or (agent.has_ranks and agent.cluster in clusters)
        ):
            return agent
    agents.append(AgentPlan(clusters[0], host, home.prefix, has_ranks=False))
    return agents[-1]


def _default_listen(clusters: Sequence[ClusterPlan], specs: Sequence[GatewaySpec]) -> str:
    """Only this host needs to reach gateways if the whole grid is on it."""
    hosts = [cluster.spec.host for cluster in clusters]
    hosts += [spec.host for spec in specs]
    if any(hosts) or any(_spreads(cluster.spec) for cluster in clusters):
        return ANYWHERE
    return "tcp:127.0.0.1:0"


def listen_of(plan: Plan, newcomer: ClusterPlan) -> str:
    """The addresses of gateways from now on: further hosts may have to reach them."""
    own = [spec for spec in plan.grid.gateway if spec.serves == [newcomer.name]]
    return plan.listen if plan.listen == ANYWHERE else _default_listen([newcomer], own)


def _spreads(spec: ClusterSpec) -> bool:
    """Whether its ranks may run on other hosts than the agent."""
    return bool(spec.hosts) or spec.launcher in SPREADING or "{command}" in (spec.launch or "")


def link_json(link: routes.GatewayLink, addresses: Sequence[str]) -> dict[str, object]:
    """An entry of `links` in the `link` message."""
    settings = link_settings(link.spec)
    if link.spec.rate:
        settings["rate"] = link.spec.rate.bytes / link.sharing
    return {
        "from": link.source,
        "to": link.target,
        "addresses": list(addresses),
        "compress": link.spec.compress,
        **settings,
    }


def link_settings(spec: LinkSpec) -> dict[str, object]:
    """`rate` in bytes per second, times in seconds; null for values that the grid file leaves
    open."""
    return {
        "encrypt": spec.encrypt,
        "rate": spec.rate.bytes if spec.rate else None,
        "rtt": spec.rtt.seconds if spec.rtt else None,
        "streams": spec.streams,
        "congestion": spec.congestion,
        "net": spec.net,
        "patience": spec.patience.seconds if spec.patience else None,
    }
