"""Contradictions in a grid file whose keys are each valid."""

import ipaddress
from collections.abc import Iterator, Sequence
from itertools import combinations

from isthmus.base.errors import did_you_mean, listing
from isthmus.grid import channels, networks
from isthmus.grid.gridkeys import expand_hosts
from isthmus.grid.gridtables import GatewaySpec, Grid, LinkSpec, NetworkSpec
from isthmus.grid.gridtext import Path

Trouble = tuple[Path, str]  # the key, and its error


def troubles(own: Grid, whole: Grid) -> Iterator[Trouble]:
    """The troubles of one file; `whole` also has the clusters of its inner grids."""
    yield from _of_networks(own, whole)
    for index, link in enumerate(own.link):
        if link.reach == "ssh":
            yield from _by_ssh(index, link)
    yield from _of_gateways(own, whole)
    yield from _of_channels(own, whole)


def _of_channels(own: Grid, whole: Grid) -> Iterator[Trouble]:
    if len(whole.channel) > channels.MOST:
        yield ("channel",), f"has {len(whole.channel)} tables; {channels.MOST} are the most"
    hosts = {host for cluster in whole.cluster.values() for host in channels.rank_hosts(cluster)}
    for name, channel in own.channel.items():
        for host in expand_hosts(channel.hosts) if channel.hosts else ():
            if host not in hosts:
                what = f"names '{host}', where no cluster has ranks{did_you_mean(host, hosts)}"
                remedy = "name some of the 'hosts' of clusters, or the 'host' of one without"
                yield ("channel", name, "hosts"), f"{what}; {remedy}"
                break
        inside = set(channels.members(whole, channel))
        links = [link.name for link in whole.link if link.name and set(link.between) <= inside]
        if channel.link and channel.link not in links:
            what = f"names a link '{channel.link}' that joins no two clusters of the channel"
            remedy = (
                f"{did_you_mean(channel.link, links)}; links there: {listing(links)}"
                if links
                else f"; give a [[link]] between two of them name = '{channel.link}'"
            )
            yield ("channel", name, "link"), what + remedy


def _of_networks(own: Grid, whole: Grid) -> Iterator[Trouble]:
    hosts = {name: set(networks.hosts_of(network)) for name, network in own.network.items()}
    for name, network in own.network.items():
        if any(networks.clusters_of(whole, network)):
            continue
        if not any(hosts[name] & hosts[other] for other in hosts if other != name):
            what = "names no host of any cluster ('host' or one of 'hosts'), so it joins nothing"
            yield ("network", name, "hosts"), what
    for (first, one), (second, other) in combinations(own.network.items(), 2):
        both = sorted(hosts[first] & hosts[second])
        if both and _overlap(one, other):
            yield (
                ("network", second, "subnet"),
                f"overlaps with network '{first}' ({one.subnet}), and host '{both[0]}' is in "
                "both, so its addresses are ambiguous; give each network a subnet of its own, or "
                "'interface'",
            )


def _overlap(one: NetworkSpec, other: NetworkSpec) -> bool:
    subnets = [
        ipaddress.ip_network(spec.subnet.strip("[]"), strict=False)
        for spec in (one, other)
        if spec.subnet
    ]
    return len(subnets) == 2 and subnets[0].overlaps(subnets[1])


def _by_ssh(index: int, link: LinkSpec) -> Iterator[Trouble]:
    if link.streams not in (None, 1):
        what = f"is {link.streams}, but a link by ssh has only the one connection of ssh"
        yield ("link", index, "streams"), what
    if link.congestion:
        yield (
            ("link", index, "congestion"),
            "has no effect: ssh makes the connection of this link",
        )
    if link.net == "ucx":
        yield ("link", index, "net"), "is 'ucx', but reach is 'ssh'; a link uses one of the two"


def _of_gateways(own: Grid, whole: Grid) -> Iterator[Trouble]:
    """Links for which their clusters lack gateways."""
    specs = [*whole.gateway, *networks.bridges(whole)]
    seen: dict[frozenset[str], int] = {}
    for link in whole.link:
        pair = frozenset(link.between)
        if link.reach != "ssh":
            seen[pair] = seen.get(pair, 0) + 1
    left = dict(seen)
    for index in range(len(own.link) - 1, -1, -1):  # the last links are the ones too many
        link = own.link[index]
        if link.reach == "ssh":
            continue
        pair = frozenset(link.between)
        ends = _ends(specs, link.between)
        if not ends and seen[pair] == 1:
            yield from _joined_already(index, link)
        left[pair] -= 1
        if left[pair] == max(ends, 1):
            name = " and ".join(f"'{name}'" for name in whole.cluster if name in pair)
            yield (
                ("link", index),
                f"is one too many: {seen[pair]} links join {name}, but the gateways suffice for "
                f"{ends}. Each link needs a gateway of its own, at least at one end: add a "
                "[[gateway]] to one of the two clusters, or remove a [[link]]",
            )


def _ends(specs: Sequence[GatewaySpec], between: Sequence[str]) -> int:
    """The number of links that two clusters can have between gateways that do not serve both."""
    counts = []
    for name, other in (between, reversed(between)):
        mine = [spec for spec in specs if name in spec.serves]
        apart = sum(spec.threads for spec in mine if other not in spec.serves)
        counts.append(apart if mine else 1)
    return max(counts)


def _joined_already(index: int, link: LinkSpec) -> Iterator[Trouble]:
    """Keys of a link without effect, since all gateways of its clusters stand in both. The link
    still holds from process to process, and its round trip still guides choices."""
    said = {
        "name": link.name is not None,
        "rate": link.rate is not None,
        "streams": link.streams is not None,
        "congestion": link.congestion is not None,
        "compress": link.compress,
        "net": link.net != "tcp",
        "encrypt": not link.encrypt,
        "patience": link.patience is not None,
    }
    if link.reach == "direct":
        said = {"name": said["name"], "compress": said["compress"]}
    for key, given in said.items():
        if given:
            names = " and ".join(f"'{name}'" for name in link.between)
            yield (
                ("link", index, key),
                f"has no effect: all gateways of {names} serve both clusters, so no link joins "
                "gateways; remove it, or give each cluster a [[gateway]] of its own",
            )
