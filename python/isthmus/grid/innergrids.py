"""Grids within a grid: `[grid.NAME]` of a grid file includes another file.

The clusters and networks of an inner grid are called NAME.CLUSTER and NAME.NETWORK. Pairs of its
clusters are linked as its own file says; all other pairs are linked as the including file says."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from isthmus.grid.gridtables import (
    ChannelSpec,
    GatewaySpec,
    Grid,
    LinkSpec,
    NetworkSpec,
    RelaySpec,
    SharedSpec,
)


def path_of(outer: Path, file: str) -> Path:
    """The path of an inner grid's `file`, as the outer file names it."""
    return outer.parent / Path(file).expanduser()


def prefixed(name: str, grid: Grid) -> Grid:
    """The inner grid as other clusters see it. All its links are written out, with its patience if
    it has one. Its `files` and `meet` hold only for runs of its own."""

    def far(clusters: list[str]) -> list[str]:
        return [f"{name}.{cluster}" for cluster in clusters]

    def link(spec: LinkSpec) -> LinkSpec:
        patience = spec.patience or (grid.patience if "patience" in grid.model_fields_set else None)
        return spec.model_copy(update={"between": far(spec.between), "patience": patience})

    def gateway(spec: GatewaySpec) -> GatewaySpec:
        one = f"{name}.{spec.cluster}" if spec.cluster else None
        return spec.model_copy(update={"cluster": one, "clusters": far(spec.clusters)})

    def relay(spec: RelaySpec) -> RelaySpec:
        return spec.model_copy(update={"between": far(spec.between or list(grid.cluster))})

    def shared(spec: SharedSpec) -> SharedSpec:
        return spec.model_copy(update={"between": [far(pair) for pair in spec.between]})

    def channel(spec: ChannelSpec) -> ChannelSpec:
        return spec.model_copy(update={"clusters": far(spec.clusters)})

    return Grid(
        cluster={f"{name}.{cluster}": spec.inside(name) for cluster, spec in grid.cluster.items()},
        network={f"{name}.{network}": spec for network, spec in grid.network.items()},
        gateway=[gateway(spec) for spec in grid.gateway],
        link=[link(spec) for spec in grid.link or _usual_links(grid, ())],
        relay=[relay(spec) for spec in grid.relay],
        shared=[shared(spec) for spec in grid.shared],
        channel={f"{name}.{one}": channel(spec) for one, spec in grid.channel.items()},
    )


def joined(outer: Grid, inner: Mapping[str, Grid]) -> Grid:
    """One flat grid, from grids as `prefixed` gives them. Clusters of the outer file come first.
    Gateways and links of the inner file come first for a cluster or a pair that has several."""
    parts = list(inner.values())
    clusters = dict(outer.cluster)
    networks: dict[str, NetworkSpec] = dict(outer.network)
    channels: dict[str, ChannelSpec] = dict(outer.channel)
    for part in parts:
        clusters |= part.cluster
        networks |= part.network
        channels |= part.channel
    whole = outer.model_copy(update={"cluster": clusters})
    own = outer.link or _usual_links(whole, [set(part.cluster) for part in parts])
    lists: dict[str, list[Any]] = {
        "gateway": [spec for part in parts for spec in part.gateway] + outer.gateway,
        "link": [spec for part in parts for spec in part.link] + own,
        "relay": [spec for part in parts for spec in part.relay] + outer.relay,
        "shared": [spec for part in parts for spec in part.shared] + outer.shared,
    }
    tables = {"network": networks, "channel": channels, "grid": {}}
    return whole.model_copy(update={**tables, **lists})


def _usual_links(grid: Grid, inside: list[set[str]] | tuple[()]) -> list[LinkSpec]:
    """The links of a file that names none: one for each pair, except pairs inside one of these sets
    and pairs that meet at a relay."""
    apart = [*inside, *(set(relay.between or grid.cluster) for relay in grid.relay)]
    return [
        LinkSpec(between=list(pair))
        for pair in combinations(grid.cluster, 2)
        if not any(set(pair) <= some for some in apart)
    ]


def twice(outer: Grid, inner: Mapping[str, Grid]) -> Iterator[tuple[str, str, str]]:
    """Names that occur twice: the table ("cluster", "network", "channel"), the name, and the inner
    grid that brings it the second time."""
    for table in ("cluster", "network", "channel"):
        known = set(getattr(outer, table))
        for name, part in inner.items():
            for one in getattr(part, table):
                if one in known:
                    yield table, one, name
                known.add(one)
