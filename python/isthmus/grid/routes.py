"""Which gateways are linked with each other, and by which gateways each cluster is reached."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from isthmus.base.errors import UsageError
from isthmus.grid.grid import LinkSpec

FIRST_GATEWAY = 0x8000_0000

Pair = tuple[int, int]


@dataclass(frozen=True)
class GatewayLink:
    """One conduit between gateways. `source` connects, `target` listens, as a gateway of the
    cluster `at`; all are numbers. `sharing` conduits of the same [[link]], with this one, share the
    path between two hosts."""

    source: int
    target: int
    spec: LinkSpec
    at: int = 0
    sharing: int = 1


def neighbours(names: Sequence[str], links: Sequence[LinkSpec]) -> dict[Pair, list[LinkSpec]]:
    """Linked pairs of clusters, the smaller index first, with all links between the two. Without
    any link, every pair is linked."""
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
    shortest path; of equal ones, the first in the grid."""
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
    """The clusters without ranks that must forward so that all `used` clusters (indices) are
    joined. UsageError names two that no chain of links joins."""
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
    """Whether `count` clusters all reach each other by these gateways, whose clusters are given,
    and by the links between them."""
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
    one. If clusters have several, the i-th of one is linked with the i-th of the other. The shorter
    list wraps around, so that each gateway has a link to each neighbouring cluster. The i-th
    conduit takes the i-th link of the pair. A gateway that serves both clusters does not need a
    link. Other gateways of the two are linked with it if they have no other partner. So are those
    that stand in further clusters, because the networks of these may lie apart. The gateway of the
    cluster that comes first in the world connects to the other. UsageError: more links than
    gateways can carry."""
    made: dict[frozenset[int], GatewayLink] = {}
    stands = Counter(node for nodes in gateways for node in nodes)
    for (a, b), specs in pairs.items():
        both = [node for node in gateways[a] if node in gateways[b]]
        left = [node for node in gateways[a] if node not in both]
        right = [node for node in gateways[b] if node not in both]
        ends = max(len(left), len(right))
        if len(specs) > max(ends, 1):
            name = " and ".join(f"'{name}'" for name in specs[0].between)
            raise UsageError(
                f"{len(specs)} links join {name}, but the gateways suffice for {ends}",
                "Each link needs a gateway of its own, at least at one end: add a [[gateway]] to "
                "one of the two clusters, or remove a [[link]].",
            )
        for i in range(ends):
            near, far = left or both, right or both
            source, target = near[i % len(near)], far[i % len(far)]
            over = both[i % len(both)] if both and near is left and far is right else None
            if over is not None and max(stands[source], stands[target]) > 1:
                ends_of = [(source, over), (over, target)]
            else:
                ends_of = [(source, target)]
            for one, other in ends_of:
                # The network where both stand, else that of the target.
                at = next((c for c in (a, b) if {one, other} <= set(gateways[c])), b)
                link = GatewayLink(one, other, specs[i % len(specs)], at)
                made.setdefault(frozenset((one, other)), link)
    return list(made.values())


def shared(links: Sequence[GatewayLink], host_of: Mapping[int, int]) -> list[GatewayLink]:
    """The same links, with the number that share the path between two hosts, given as numbers."""

    def path(link: GatewayLink) -> tuple[int, frozenset[int]]:
        return id(link.spec), frozenset((host_of[link.source], host_of[link.target]))

    counts = Counter(map(path, links))
    return [replace(link, sharing=counts[path(link)]) for link in links]


@dataclass(frozen=True)
class NamedLink:
    """A link with a name as the world knows it: its clusters, and its gateways at both ends."""

    spec: LinkSpec
    pair: Pair
    gateways: list[int]


def named_links(
    pairs: Mapping[Pair, Sequence[LinkSpec]], links: Iterable[GatewayLink]
) -> list[NamedLink]:
    """The links with names of these pairs. UsageError if one shares a gateway with another link of
    its pair: processes choose a link by its gateways."""
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
                    "A link with a name needs gateways of its own at both ends: add a "
                    "[[gateway]] to the cluster that has fewer, or remove the name.",
                )
            made.append(NamedLink(spec, pair, sorted(nodes[i])))
    return made


@dataclass(frozen=True)
class Table:
    """For one gateway, by cluster: the gateways that may come next on the path there, and how many
    links the path has."""

    next: dict[int, list[int]]
    hops: dict[int, int]


def tables(
    clusters: int, gateways: Sequence[Sequence[int]], links: Sequence[GatewayLink]
) -> dict[int, Table]:
    """For each gateway: all gateways that come next on a shortest path, in the order of the links.
    The clusters that it serves have no entry."""
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
