"""Networks of a grid file: the clusters in them, and the hosts that join them."""

from collections.abc import Iterator

from isthmus.base.errors import UsageError
from isthmus.grid.gridkeys import expand_hosts
from isthmus.grid.gridtables import ClusterSpec, GatewaySpec, Grid, NetworkSpec


def bridges(grid: Grid) -> list[GatewaySpec]:
    """The gateways that the file's networks make: each host in several networks, unless a
    [[gateway]] describes it. UsageError if it would join fewer than two clusters."""
    named = {gateway.host.rpartition("@")[2] for gateway in grid.gateway if gateway.host}
    members = {name: hosts_of(network) for name, network in grid.network.items()}
    hosts = dict.fromkeys(host for known in members.values() for host in known)
    made = []
    for host in hosts:
        networks = [name for name, known in members.items() if host in known]
        if len(networks) > 1 and host not in named:
            made.append(_bridge(grid, host, networks))
    return made


def _bridge(grid: Grid, host: str, networks: list[str]) -> GatewaySpec:
    places: dict[str, str | None] = {}
    for name in networks:
        for cluster in clusters_of(grid, grid.network[name]):
            places.setdefault(cluster, _place(grid.network[name]))
    if len(places) < 2:
        among = " and ".join(f"'{name}'" for name in networks)
        found = f"only cluster '{next(iter(places))}'" if places else "no cluster"
        raise UsageError(
            f"host '{host}' is in the networks {among}, which hold {found}",
            "In each of them, name hosts of a cluster (its 'host', or some of its 'hosts'), or "
            f"remove '{host}' from one.",
        )
    listen = [place for place in places.values() if place]
    address = {"address": listen} if len(listen) == len(places) else {}
    return GatewaySpec.model_validate(
        {"clusters": list(places), "host": _target(grid, host), **address}
    )


def _target(grid: Grid, host: str) -> str:
    """The host's name for ssh; where a cluster's agent runs there, the name that the cluster
    has."""
    known = (cluster.host for cluster in grid.cluster.values() if cluster.host)
    return next((target for target in known if target.rpartition("@")[2] == host), host)


def clusters_of(grid: Grid, network: NetworkSpec) -> Iterator[str]:
    """The clusters with a host in the network."""
    known = set(hosts_of(network))
    for name, cluster in grid.cluster.items():
        if known & _hosts(cluster):
            yield name


def hosts_of(network: NetworkSpec) -> list[str]:
    return expand_hosts(network.hosts)


def _hosts(cluster: ClusterSpec) -> set[str]:
    hosts = set(expand_hosts(cluster.hosts)) if cluster.hosts else set()
    return hosts | ({cluster.host.rpartition("@")[2]} if cluster.host else set())


def _place(network: NetworkSpec) -> str | None:
    """The place where a gateway listens in the network."""
    if network.subnet:
        return network.subnet
    return f"%{network.interface}" if network.interface else None
