"""Which gateway is linked with which, and by which gateway each cluster is reached."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from isthmus.errors import UsageError
from isthmus.grid import LinkSpec

FIRST_GATEWAY = 0x8000_0000


@dataclass(frozen=True)
class GatewayLink:
    """One conduit between gateways. `source` connects, `target` listens; both are node ids."""

    source: int
    target: int
    spec: LinkSpec


def neighbours(names: Sequence[str], links: Sequence[LinkSpec]) -> dict[tuple[int, int], LinkSpec]:
    """Linked pairs of clusters, the smaller index first. No link at all means every pair."""
    if not links:
        return {
            (a, b): LinkSpec(between=[names[a], names[b]])
            for a in range(len(names))
            for b in range(a + 1, len(names))
        }
    index = {name: i for i, name in enumerate(names)}
    pairs = {}
    for link in links:
        if all(name in index for name in link.between):
            a, b = sorted(index[name] for name in link.between)
            pairs[a, b] = link
    return dict(sorted(pairs.items()))


def next_clusters(count: int, pairs: Sequence[tuple[int, int]], start: int) -> dict[int, int]:
    """For each cluster that can be reached from `start`, the neighbour that comes next on a
    shortest way; of equals, the one whose neighbour comes first in the grid."""
    adjacent = {i: sorted({a + b - i for a, b in pairs if i in (a, b)}) for i in range(count)}
    first: dict[int, int] = {}
    queue = deque((near, near) for near in adjacent[start])
    while queue:
        cluster, via = queue.popleft()
        if cluster != start and cluster not in first:
            first[cluster] = via
            queue.extend((near, via) for near in adjacent[cluster])
    return first


def way(count: int, pairs: Sequence[tuple[int, int]], start: int, goal: int) -> list[int]:
    """The clusters of the route from `start` to `goal`, both included; empty when there is none."""
    path = [start]
    while path[-1] != goal:
        ahead = next_clusters(count, pairs, path[-1])
        if goal not in ahead:
            return []
        path.append(ahead[goal])
    return path


def check_joined(names: Sequence[str], links: Sequence[LinkSpec], used: Sequence[int]) -> None:
    """UsageError names two of the `used` clusters (indices) that no chain of links joins, or that
    are joined only by way of a cluster that is not used: only a cluster with ranks forwards."""
    pairs = list(neighbours(names, links))
    among = [pair for pair in pairs if set(pair) <= set(used)]
    for i, a in enumerate(used):
        for b in used[i + 1 :]:
            if way(len(names), among, a, b):
                continue
            through = way(len(names), pairs, a, b)
            if not through:
                raise UsageError(
                    f"no chain of links joins cluster '{names[a]}' to cluster '{names[b]}'",
                    f'Add a [[link]] with between = ["{names[a]}", "{names[b]}"], or links by '
                    "way of other clusters.",
                )
            empty = next(cluster for cluster in through if cluster not in used)
            raise UsageError(
                f"cluster '{names[empty]}' has no ranks, but '{names[a]}' reaches '{names[b]}' "
                "only through it",
                f"Place at least one rank on '{names[empty]}', or add a [[link]] that goes around "
                "it.",
            )


def gateway_links(
    pairs: dict[tuple[int, int], LinkSpec], gateways: Sequence[Sequence[int]]
) -> list[GatewayLink]:
    """The conduits between gateways. `gateways[c]` lists the nodes of cluster c, at least one.
    Where clusters have several, the i-th of one is linked with the i-th of the other, the shorter
    list wrapping around, so that each has a link to each neighbouring cluster. The gateway of the
    cluster that comes first in the world connects to the other."""
    made = []
    for (a, b), spec in pairs.items():
        left, right = gateways[a], gateways[b]
        for i in range(max(len(left), len(right))):
            made.append(GatewayLink(left[i % len(left)], right[i % len(right)], spec))
    return made


def next_gateways(
    pairs: Sequence[tuple[int, int]],
    gateways: Sequence[Sequence[int]],
    links: Sequence[GatewayLink],
) -> dict[int, dict[int, int]]:
    """For each gateway: destination cluster -> the gateway that its traffic goes to next."""
    home = {node: c for c, nodes in enumerate(gateways) for node in nodes}
    linked: dict[int, dict[int, int]] = {node: {} for node in home}  # node -> cluster -> node
    for link in links:
        linked[link.source].setdefault(home[link.target], link.target)
        linked[link.target].setdefault(home[link.source], link.source)
    tables: dict[int, dict[int, int]] = {}
    for c, nodes in enumerate(gateways):
        ahead = next_clusters(len(gateways), pairs, c)
        for node in nodes:
            tables[node] = {goal: linked[node][near] for goal, near in sorted(ahead.items())}
    return tables
