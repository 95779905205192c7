"""Which gateway is linked with which, and by which gateways each cluster is reached."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from isthmus.errors import UsageError
from isthmus.grid import LinkSpec

FIRST_GATEWAY = 0x8000_0000

Pair = tuple[int, int]


@dataclass(frozen=True)
class GatewayLink:
    """One conduit between gateways. `source` connects, `target` listens, as a gateway of the
    cluster `at`; all are numbers. So many of the same [[link]], this one among them, share the path
    between two hosts."""

    source: int
    target: int
    spec: LinkSpec
    at: int = 0
    sharing: int = 1


def neighbours(names: Sequence[str], links: Sequence[LinkSpec]) -> dict[Pair, list[LinkSpec]]:
    """Linked pairs of clusters, the smaller index first, with all links between the two. No link at
    all means every pair."""
    if not links:
        return {
            (a, b): [LinkSpec(between=[names[a], names[b]])]
            for a, b in combinations(range(len(names)), 2)
        }
    index = {name: i for i, name in enumerate(names)}
    pairs: dict[Pair, list[LinkSpec]] = {}
    for link in links:
        if all(name in index for name in link.between):
            a, b = sorted(index[name] for name in link.between)
            pairs.setdefault((a, b), []).append(link)
    return dict(sorted(pairs.items()))


def next_clusters(count: int, pairs: Iterable[Pair], start: int) -> dict[int, int]:
    """For each cluster that can be reached from `start`, the neighbour that comes next on a
    shortest way; of equals, the one whose neighbour comes first in the grid."""
    known = list(pairs)
    adjacent = {i: sorted({a + b - i for a, b in known if i in (a, b)}) for i in range(count)}
    first: dict[int, int] = {}
    queue = deque((near, near) for near in adjacent[start])
    while queue:
        cluster, via = queue.popleft()
        if cluster != start and cluster not in first:
            first[cluster] = via
            queue.extend((near, via) for near in adjacent[cluster])
    return first


def way(count: int, pairs: Iterable[Pair], start: int, goal: int) -> list[int]:
    """The clusters of the route from `start` to `goal`, both included; empty when there is none."""
    known = list(pairs)
    path = [start]
    while path[-1] != goal:
        ahead = next_clusters(count, known, path[-1])
        if goal not in ahead:
            return []
        path.append(ahead[goal])
    return path


def forwarding(names: Sequence[str], pairs: Iterable[Pair], used: Sequence[int]) -> list[int]:
    """The clusters without ranks that must forward so that all of the `used` (indices) are joined.
    UsageError names two that no chain of links joins."""
    known = list(pairs)
    running = set(used)
    for a, b in combinations(used, 2):
        if way(len(names), [pair for pair in known if set(pair) <= running], a, b):
            continue
        through = way(len(names), known, a, b)
        if not through:
            raise UsageError(
                f"no chain of links joins cluster '{names[a]}' to cluster '{names[b]}'",
                f'Add a [[link]] with between = ["{names[a]}", "{names[b]}"], links by way of '
                "other clusters, or a gateway that stands in both.",
            )
        running |= set(through)
    return sorted(running - set(used))


def all_joined(
    count: int, gateways: Mapping[int, Sequence[int]], links: Iterable[GatewayLink]
) -> bool:
    """Whether each two of so many clusters reach each other by these gateways, whose clusters are
    given, and by the links between them."""
    part = {node: node for node in gateways}
    for link in links:
        if link.source in part and link.target in part:
            old, new = part[link.target], part[link.source]
            part = {node: new if at == old else at for node, at in part.items()}
    at = [{part[node] for node, own in gateways.items() if i in own} for i in range(count)]
    return all(a & b for a, b in combinations(at, 2))


def gateway_links(
    pairs: Mapping[Pair, Sequence[LinkSpec]], gateways: Sequence[Sequence[int]]
) -> list[GatewayLink]:
    """The conduits between gateways. `gateways[c]` lists the nodes that serve cluster c, at least
    one. Where clusters have several, the i-th of one is linked with the i-th of the other, the
    shorter list wrapping around, so that each has a link to each neighbouring cluster; the i-th
    takes the i-th of the pair's links. One that serves both needs no link: the others of the two
    are linked with it where they have nobody else. The gateway of the cluster that comes first in
    the world connects to the other. UsageError: more links than gateways can carry."""
    made: dict[frozenset[int], GatewayLink] = {}
    for (a, b), specs in pairs.items():
        both = [node for node in gateways[a] if node in gateways[b]]
        left = [node for node in gateways[a] if node not in both]
        right = [node for node in gateways[b] if node not in both]
        ends = max(len(left), len(right))
        if len(specs) > max(ends, 1):
            name = " and ".join(f"'{name}'" for name in specs[0].between)
            raise UsageError(
                f"there are {len(specs)} links between {name}, and gateways for {ends}",
                "Each link has gateways of its own, at least at one end: add a [[gateway]] to one "
                "of the two clusters, or take a [[link]] out.",
            )
        for i in range(ends):
            near, far = left or both, right or both
            source, target = near[i % len(near)], far[i % len(far)]
            # In the network where both stand, or in the other's.
            at = next((c for c in (a, b) if {source, target} <= set(gateways[c])), b)
            link = GatewayLink(source, target, specs[i % len(specs)], at)
            made.setdefault(frozenset((source, target)), link)
    return list(made.values())


def shared(links: Sequence[GatewayLink], host_of: Mapping[int, int]) -> list[GatewayLink]:
    """The same, with how many share the path between two hosts, by the numbers of these."""

    def path(link: GatewayLink) -> tuple[int, frozenset[int]]:
        return id(link.spec), frozenset((host_of[link.source], host_of[link.target]))

    counts = Counter(map(path, links))
    return [replace(link, sharing=counts[path(link)]) for link in links]


@dataclass(frozen=True)
class NamedLink:
    """What the world has of a link with a name: its clusters and its gateways, of both ends."""

    spec: LinkSpec
    pair: Pair
    gateways: list[int]


def named_links(
    pairs: Mapping[Pair, Sequence[LinkSpec]], links: Iterable[GatewayLink]
) -> list[NamedLink]:
    """Those of these pairs. UsageError where one shares a gateway with another link of its pair:
    processes choose a link by its gateways."""
    made = []
    known = list(links)
    for pair, specs in pairs.items():
        nodes = [
            {node for link in known if link.spec is spec for node in (link.source, link.target)}
            for spec in specs
        ]
        for i, spec in enumerate(specs):
            if not spec.name:
                continue
            if any(nodes[i] & of for k, of in enumerate(nodes) if k != i):
                name = " and ".join(f"'{name}'" for name in spec.between)
                raise UsageError(
                    f"link '{spec.name}' shares a gateway with another link between {name}",
                    "A link with a name, which programs choose, has gateways of its own at both "
                    "ends: add a [[gateway]] to the cluster that has fewer, or take the name out.",
                )
            made.append(NamedLink(spec, pair, sorted(nodes[i])))
    return made


@dataclass(frozen=True)
class Table:
    """Of one gateway, by cluster: the gateways that may be next on a way there, and how many links
    the way has."""

    next: dict[int, list[int]]
    hops: dict[int, int]


def tables(
    clusters: int, gateways: Sequence[Sequence[int]], links: Sequence[GatewayLink]
) -> dict[int, Table]:
    """For each gateway: all that are next on a shortest way, in the order of the links. It has none
    to the clusters that it serves."""
    near: dict[int, list[int]] = {node: [] for nodes in gateways for node in nodes}
    for link in links:
        near[link.source].append(link.target)
        near[link.target].append(link.source)
    made = {node: Table({}, {}) for node in near}
    for goal in range(clusters):
        hops = dict.fromkeys(gateways[goal], 0)
        queue = deque(gateways[goal])
        while queue:
            node = queue.popleft()
            for other in near[node]:
                if other not in hops:
                    hops[other] = hops[node] + 1
                    queue.append(other)
        for node, count in hops.items():
            made[node].hops[goal] = count
            if count:
                made[node].next[goal] = [n for n in near[node] if hops.get(n) == count - 1]
    return made
