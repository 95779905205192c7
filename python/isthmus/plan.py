"""What a run starts and where: the grid and the placement, worked out before anything is begun."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from isthmus import routes
from isthmus.errors import UsageError
from isthmus.grid import ClusterSpec, GatewaySpec, Grid, LinkSpec, Reach
from isthmus.placement import Block, Part, place
from isthmus.units import parse_rate, parse_time

ANY_HOST = ("0.0.0.0", "[::]")


@dataclass(frozen=True)
class ClusterPlan:
    """A cluster of the world, with the ranks that it holds."""

    name: str
    spec: ClusterSpec
    block: Block


@dataclass(frozen=True)
class GatewayPlan:
    """`cluster` and `agent` are indices."""

    node: int
    cluster: int
    agent: int
    listen: str
    address: str | None  # of the grid file: how others reach it


@dataclass
class AgentPlan:
    """One isthmusd. Each cluster has one that starts its ranks, and one more for each further
    host on which it has gateways."""

    cluster: int
    host: str | None
    prefix: str | None
    has_ranks: bool
    gateways: list[GatewayPlan] = field(default_factory=list)


@dataclass
class Plan:
    """A run."""

    job: str
    clusters: list[ClusterPlan]
    agents: list[AgentPlan]
    gateways: list[GatewayPlan]
    links: list[routes.GatewayLink]
    pairs: dict[tuple[int, int], LinkSpec]
    next: dict[int, dict[int, int]]
    shared: set[tuple[int, int]] = field(default_factory=set)
    """Pairs of clusters whose processes share memory; known once programs have been inspected."""

    @property
    def size(self) -> int:
        return sum(cluster.block.size for cluster in self.clusters)

    @property
    def alone(self) -> bool:
        """The world is one cluster: a native job, with nothing of the grid in it."""
        return len(self.clusters) == 1

    def where(self, agent: AgentPlan) -> str:
        name = f"cluster {self.clusters[agent.cluster].name}"
        if agent.host is None:
            return name
        return (
            f"{name} on {agent.host}" if agent.has_ranks else f"gateway of {name} on {agent.host}"
        )

    def gateway_name(self, node: int) -> str:
        """The cluster's name, numbered where it has several gateways."""
        gateway = next((g for g in self.gateways if g.node == node), None)
        if gateway is None:
            return str(node)
        nodes = [g.node for g in self.gateways if g.cluster == gateway.cluster]
        name = self.clusters[gateway.cluster].name
        return name if len(nodes) == 1 else f"{name}/{nodes.index(node)}"


def make_plan(grid: Grid, parts: Sequence[Part]) -> Plan:
    """UsageError when ranks do not fit or clusters are not joined."""
    blocks = place(grid.cluster, parts)
    clusters = _clusters(grid, blocks)
    agents: list[AgentPlan] = []
    gateways: list[GatewayPlan] = []
    specs: list[list[GatewaySpec]] = []
    for cluster in clusters:
        mine = [g for g in grid.gateway if g.cluster == cluster.name]
        specs.append((mine or [GatewaySpec(cluster=cluster.name)]) if len(clusters) > 1 else [])
    default = _default_listen(clusters, specs)
    for index, cluster in enumerate(clusters):
        main = AgentPlan(index, cluster.spec.host, cluster.spec.prefix, has_ranks=True)
        agents.append(main)
        local = {main.host: main}
        for spec in specs[index]:
            host = spec.host or cluster.spec.host
            if host not in local:
                local[host] = AgentPlan(index, host, cluster.spec.prefix, has_ranks=False)
                agents.append(local[host])
            gateway = GatewayPlan(
                node=routes.FIRST_GATEWAY + len(gateways),
                cluster=index,
                agent=agents.index(local[host]),
                listen=_with_port(spec.listen or spec.address or default, spec.port),
                address=_with_port(spec.address, spec.port) if spec.address else None,
            )
            gateways.append(gateway)
            local[host].gateways.append(gateway)
    names = [cluster.name for cluster in clusters]
    usual = {"patience": grid.patience, "reach": _reach_from_environment()}
    pairs = {
        pair: link.model_copy(update={k: v for k, v in usual.items() if not getattr(link, k)})
        for pair, link in routes.neighbours(names, grid.link).items()
    }
    nodes = [[g.node for g in gateways if g.cluster == i] for i in range(len(clusters))]
    links = routes.gateway_links(pairs, nodes)
    return Plan(
        job=f"isthmus-{secrets.token_hex(4)}",
        clusters=clusters,
        agents=agents,
        gateways=gateways,
        links=links,
        pairs=pairs,
        next=routes.next_gateways(list(pairs), nodes, links),
    )


def _reach_from_environment() -> Reach | None:
    """That of links which leave it open."""
    text = os.environ.get("ISTHMUS_REACH", "")
    known = get_args(Reach)
    if text and text not in known:
        raise UsageError(
            f"ISTHMUS_REACH is '{text}'", f"Give it one of {', '.join(known)}, or unset it."
        )
    return cast(Reach, text) if text else None


def _clusters(grid: Grid, blocks: Sequence[Block]) -> list[ClusterPlan]:
    names = list(grid.cluster)
    routes.check_joined(names, grid.link, [names.index(block.cluster) for block in blocks])
    return [ClusterPlan(b.cluster, grid.cluster[b.cluster], b) for b in blocks]


def _default_listen(clusters: Sequence[ClusterPlan], specs: Sequence[Sequence[GatewaySpec]]) -> str:
    """Reached only by this host when the whole grid is on it."""
    hosts = [cluster.spec.host for cluster in clusters]
    hosts += [spec.host for mine in specs for spec in mine]
    return "tcp:127.0.0.1:0" if all(host is None for host in hosts) else "tcp:0.0.0.0:0"


def split_address(address: str) -> tuple[str, str]:
    """Host and port, or range of ports, of "tcp:HOST:PORT"."""
    host, _, port = address.removeprefix("tcp:").rpartition(":")
    return host, port


def _with_port(address: str, port: str | None) -> str:
    host, own = split_address(address)
    return f"tcp:{host}:{port}" if port and own == "0" else address


def _outside(address: str, listen: str, port: str) -> str:
    """The port by which others reach what listens at `port`: that of `address`, and in a range the
    one at the same place as in that of `listen`."""
    first, dash, last = split_address(address)[1].partition("-")
    if not dash:
        return port if first == "0" else first
    start = split_address(listen)[1].partition("-")[0]
    found = int(first) + int(port) - int(start)
    return str(found) if int(first) <= found <= int(last) else port


def reachable(gateway: GatewayPlan, listening: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """The TCP addresses that others should try, best first. `listening` is what the agent said;
    `hosts` are names of its host, for a gateway that listens on all interfaces."""
    found: list[str] = []
    for address in listening:
        if not address.startswith("tcp:"):
            continue
        host, port = split_address(address)
        if gateway.address is not None:
            named, _ = split_address(gateway.address)
            found.append(f"tcp:{named}:{_outside(gateway.address, gateway.listen, port)}")
        elif host in ANY_HOST:
            found += [f"tcp:{name}:{port}" for name in hosts if name]
        else:
            found.append(address)
    return list(dict.fromkeys(found))


def link_json(link: routes.GatewayLink, addresses: Sequence[str]) -> dict[str, object]:
    """An entry of `links` in the `link` message."""
    return {
        "from": link.source,
        "to": link.target,
        "addresses": list(addresses),
        **link_settings(link.spec),
    }


def link_settings(spec: LinkSpec) -> dict[str, object]:
    """`rate` in bytes per second, times in seconds; null for what the grid file leaves open."""
    return {
        "encrypt": spec.encrypt,
        "rate": parse_rate(spec.rate) / 8 if spec.rate else None,
        "rtt": parse_time(spec.rtt) if spec.rtt else None,
        "streams": spec.streams,
        "patience": parse_time(spec.patience) if spec.patience else None,
    }
