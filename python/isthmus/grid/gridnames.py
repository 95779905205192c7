"""The names in a grid file: they must be valid, and refer to each other. A model alone cannot see
this."""

import re
from collections.abc import Iterator, Mapping, Sequence

from isthmus.base.errors import did_you_mean, listing
from isthmus.grid import innergrids
from isthmus.grid.complaints import Complaint
from isthmus.grid.gridkeys import port_count
from isthmus.grid.gridtables import (
    ChannelSpec,
    ClusterSpec,
    GatewaySpec,
    Grid,
    LinkSpec,
    RelaySpec,
    SharedSpec,
)
from isthmus.grid.gridtext import Path
from isthmus.grid.reach import Entry


def troubles(grid: Grid) -> Iterator[Complaint]:
    """`grid` is that of one file, with the clusters of its inner grids."""
    for cluster, table in grid.cluster.items():
        yield from of_name(cluster, ("cluster", cluster))
        yield from _of_start(("cluster", cluster), table)
    if grid.files is not None:
        yield from _of_cluster(grid, grid.files, ("files",))
    for network, spec in grid.network.items():
        if spec.subnet and spec.interface:
            key = ("network", network, "interface")
            yield key, "and 'subnet' are both given; give one of them"
    for index, gateway in enumerate(grid.gateway):
        yield from _of_gateway(grid, ("gateway", index), gateway)
    for index, relay in enumerate(grid.relay):
        yield from _of_relay(grid, ("relay", index), relay)
    for index, shared in enumerate(grid.shared):
        yield from _of_shared(grid, ("shared", index, "between"), shared)
    for index, link in enumerate(grid.link):
        yield from _of_link(grid, index, link)
    for name, channel in grid.channel.items():
        yield from _of_channel(grid, ("channel", name), channel)
    if any(link.reach == "ssh" for link in grid.link) and "launcher" in grid.cluster:
        what = "is also the name of the relay that links by ssh need; rename the cluster"
        yield ("cluster", "launcher"), what


def troubles_between(own: Grid, inner: Mapping[str, Grid]) -> Iterator[Complaint]:
    """Names that meet from several files."""
    for table, one, source in innergrids.twice(own, inner):
        what = f"includes a {table} '{one}', but another has that name; rename one of them"
        yield ("grid", source), what
    for source, part in inner.items():
        for name in (*part.cluster, *part.channel):
            yield from of_name(name, ("grid", source))
    links = [link for part in inner.values() for link in part.link]
    for index in range(len(own.link)):
        yield from _of_link_name(index, own.link, links)
    taken = [r"relay\d*"] if any(part.relay for part in inner.values()) else []
    taken += ["launcher"] if any(link.reach == "ssh" for link in links) else []
    for cluster in own.cluster:
        if any(re.fullmatch(pattern, cluster) for pattern in taken):
            what = "is also the name of a relay of an inner grid; rename the cluster"
            yield ("cluster", cluster), what


def of_name(one: str, key: Path) -> Iterator[Complaint]:
    """The name of a cluster, a channel or an inner grid."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", one):
        made = "" if one == key[-1] else f"makes '{one}', which "
        what = f"{made}is not a valid name: use"
        allowed = "letters, digits, '_', '.' and '-', beginning with a letter or a digit"
        more = ", and at most 64 characters" if len(one) > 64 else ""
        yield key, f"{what} {allowed}{more}"


def _of_cluster(grid: Grid, cluster: str, key: Path) -> Iterator[Complaint]:
    if cluster in grid.cluster:
        return
    if cluster in grid.grid:
        unknown = f"names the grid '{cluster}'; name one of its clusters"
    else:
        near = did_you_mean(cluster, grid.cluster)
        unknown = f"names a cluster '{cluster}' that is not in the file{near}"
    yield key, f"{unknown}; its clusters: {listing(grid.cluster)}"


def _of_start(at: Path, table: ClusterSpec | GatewaySpec | RelaySpec) -> Iterator[Complaint]:
    # A cluster of an inner grid has both: the inner file's check came first.
    if table.start and table.host and not isinstance(table.host, Entry):
        yield (*at, "start"), "and 'host' are both given; give one of them"


def _of_gateway(grid: Grid, at: Path, gateway: GatewaySpec) -> Iterator[Complaint]:
    if gateway.cluster and gateway.clusters:
        yield (*at, "clusters"), "and 'cluster' are both given; give one of them"
        return
    if not gateway.serves:
        what = "is missing; give it, or 'clusters' if the gateway serves several"
        yield (*at, "cluster"), what
        return
    yield from _of_start(at, gateway)
    named = (*at, "clusters" if gateway.clusters else "cluster")
    for cluster in dict.fromkeys(gateway.serves):
        yield from _of_cluster(grid, cluster, named)
        if gateway.serves.count(cluster) > 1:
            yield named, f"names '{cluster}' twice"
    for key, given in (("address", gateway.address), ("listen", gateway.listen)):
        if given is not None and len(given) not in (1, len(gateway.serves)):
            count = (
                f"has {len(given)} entries, but the gateway serves {len(gateway.serves)} cluster"
            )
            more = "s" if len(gateway.serves) > 1 else ""
            yield (*at, key), f"{count}{more}; give one, or one for each"
    yield from _of_ports(at, gateway)


def _of_ports(at: Path, door: GatewaySpec | RelaySpec) -> Iterator[Complaint]:
    listens = door.listen or door.address
    if door.port and listens and not all(address.endswith(":0") for address in listens):
        told = "listen" if door.listen else "address"
        yield (*at, "port"), f"is also given by '{told}'; give it once"
        return
    told_ports = [("port", door.port)]
    told_ports += [("address", each) for each in door.address or ()]
    told_ports += [("listen", each) for each in door.listen or ()]
    for key, ports in told_ports:
        found = port_count(ports) if ports else 0
        if found and found < door.threads:
            what = f"has {found} of the {door.threads} ports that its 'threads' need"
            colon = "" if key == "port" else ":"
            yield (
                (*at, key),
                f"{what}; give a range, such as '{colon}7400-{7399 + door.threads}'",
            )
            return


def _of_relay(grid: Grid, at: Path, relay: RelaySpec) -> Iterator[Complaint]:
    for cluster in relay.between:
        yield from _of_cluster(grid, cluster, (*at, "between"))
    started = [
        key
        for key in ("host", "start", "prefix", "address", "port", "listen", "threads")
        if key in relay.model_fields_set
    ]
    if relay.service and started:
        what = "is for a relay that the run starts; one with 'service' runs already"
        yield (*at, started[0]), what
    yield from _of_start(at, relay)
    yield from _of_ports(at, relay)
    if bool(relay.service) != bool(relay.key):
        missing, given = ("key", "service") if relay.service else ("service", "key")
        what = f"is missing, but '{given}' needs it: give a service and the file of your key for it"
        yield (*at, missing), what
    if "relay" in grid.cluster or any(re.fullmatch(r"relay\d+", n) for n in grid.cluster):
        yield at, "is also the name of a cluster"


def _of_shared(grid: Grid, key: Path, shared: SharedSpec) -> Iterator[Complaint]:
    if len(shared.between) < 2:
        count = len(shared.between)
        yield key, f"must name at least two pairs of clusters; it has {count}"
    for pair in shared.between:
        if len(set(pair)) != 2 or len(pair) != 2:
            found = listing(pair) or "none"
            yield key, f"must have two clusters in each pair; one pair has {found}"
            continue
        for cluster in pair:
            yield from _of_cluster(grid, cluster, key)


def _of_link(grid: Grid, index: int, link: LinkSpec) -> Iterator[Complaint]:
    at: Path = ("link", index)
    between = (*at, "between")
    if len(link.between) != 2:
        yield between, f"must name two clusters; it names {len(link.between)}"
    elif len(set(link.between)) == 1:
        yield between, f"links '{link.between[0]}' to itself"
    for cluster in dict.fromkeys(link.between):
        yield from _of_cluster(grid, cluster, between)
    if link.compress and link.reach == "direct":
        yield (*at, "compress"), 'needs gateways, but reach = "direct" bypasses them'
    if link.net == "ucx" and link.encrypt:
        what = "is 'ucx', which cannot encrypt; add 'encrypt = false', or remove 'net'"
        yield (*at, "net"), what
    for cluster in link.between if link.reach == "ssh" else ():
        if cluster in grid.cluster and grid.cluster[cluster].start:
            what = f"is 'ssh', but cluster '{cluster}' is reached by its 'start'"
            yield (*at, "reach"), f"{what}; let the clusters meet at a [[relay]]"
    yield from _of_link_name(index, grid.link)


def _of_channel(grid: Grid, at: Path, channel: ChannelSpec) -> Iterator[Complaint]:
    yield from of_name(str(at[-1]), at)
    named = (*at, "clusters")
    if not channel.clusters and not channel.hosts:
        yield named, "is missing; give it, or 'hosts', or both"
    for cluster in dict.fromkeys(channel.clusters):
        yield from _of_cluster(grid, cluster, named)
        if channel.clusters.count(cluster) > 1:
            yield named, f"names '{cluster}' twice"


def _of_link_name(
    index: int, links: Sequence[LinkSpec], others: Sequence[LinkSpec] = ()
) -> Iterator[Complaint]:
    link = links[index]
    key = ("link", index, "name")
    if link.name in ("direct", "gateway"):
        what = (
            f"is '{link.name}', which the info key isthmus_link reserves for links without a name"
        )
        yield key, what
    if link.name and link.reach == "ssh":
        yield key, "has no effect: programs cannot choose links by ssh"
    for other in [*others, *links[:index]]:
        if link.name and other.name == link.name and set(other.between) == set(link.between):
            yield key, "is also the name of another link between the same clusters"
            return
