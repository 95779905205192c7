"""The channels of a grid file: communicators over chosen clusters and hosts (docs/topology.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from isthmus.grid.gridkeys import expand_hosts
from isthmus.grid.gridtables import ChannelSpec, ClusterSpec, Grid

MOST = 64  # include/isthmus.h and isthmus.f90 hold as many


@dataclass(frozen=True)
class Hosts:
    """The hosts of one cluster whose ranks are in a channel, and the others. Without others all of
    the cluster's ranks are in it."""

    inside: list[str]
    outside: list[str]


@dataclass(frozen=True)
class ChannelPlan:
    """`parts`: the hosts by the number of their cluster in the world."""

    name: str
    link: str
    parts: dict[int, Hosts]

    def json(self) -> dict[str, object]:
        """As the world has it."""
        parts = [
            {"cluster": cluster, "hosts": hosts.inside, "others": hosts.outside}
            for cluster, hosts in self.parts.items()
        ]
        return {"name": self.name, "link": self.link, "parts": parts}


def rank_hosts(cluster: ClusterSpec) -> list[str]:
    """The hosts of a cluster's ranks, as far as the file names them."""
    if cluster.hosts:
        return expand_hosts(cluster.hosts)
    return [cluster.host.rpartition("@")[2]] if cluster.host else []


def members(grid: Grid, channel: ChannelSpec) -> dict[str, Hosts]:
    """The clusters with ranks in the channel, in the grid's order."""
    named = set(expand_hosts(channel.hosts)) if channel.hosts else set()
    found = {}
    for name, cluster in grid.cluster.items():
        hosts = rank_hosts(cluster)
        inside = [host for host in hosts if host in named]
        if name in channel.clusters or len(inside) == len(hosts) > 0:
            found[name] = Hosts([], [])
        elif inside:
            found[name] = Hosts(inside, [host for host in hosts if host not in named])
    return found


def planned(grid: Grid, clusters: Sequence[str]) -> list[ChannelPlan]:
    """All channels of the grid, in a run on these clusters."""
    return [
        ChannelPlan(
            name,
            spec.link or "",
            {clusters.index(c): h for c, h in members(grid, spec).items() if c in clusters},
        )
        for name, spec in grid.channel.items()
    ]
