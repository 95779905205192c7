"""First placements of ranks, before they are exchanged: by METIS, and in simpler orders."""

import contextlib
import heapq
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType

from isthmus.mapping.refine import Assignment
from isthmus.mapping.traffic import Pair, Volume
from isthmus.mapping.wires import Wires

pymetis: ModuleType | None = None
with contextlib.suppress(ImportError):  # the extra "map"; without it other orders must suffice
    import pymetis

_SEEDS = (1, 2, 3)
_HEAVIEST = 1_000_000  # METIS adds up weights of 32 bits


def assign(
    pairs: Mapping[Pair, Volume],
    given: Sequence[int],
    capacity: Sequence[int],
    wires: Wires,
    allowed: Sequence[frozenset[int]] | None = None,
) -> list[int]:
    """The cluster of each rank, such that crossings are cheap, and never dearer than in `given`.
    Clusters get as many ranks as there, or up to their capacity. ValueError if some ranks have no
    place that they may use."""
    size = len(given)
    sizes = [list(given).count(cluster) for cluster in range(wires.clusters)]
    best: Assignment | None = None
    for start in _starts(pairs, given, sizes, wires):
        tried = Assignment(start, pairs, wires, allowed)
        if not (tried.settle(sizes) or tried.settle(capacity)):
            continue
        tried.refine(capacity)
        if best is None or tried.cost < best.cost - 1e-12:
            best = tried
    if best is None:
        raise ValueError(f"the {size} ranks do not fit into the clusters that they may use")
    return best.part


def _starts(
    pairs: Mapping[Pair, Volume], given: Sequence[int], sizes: Sequence[int], wires: Wires
) -> Iterable[Sequence[int]]:
    yield given
    if len([size for size in sizes if size]) > 1:
        yield from _of_metis(pairs, len(given), sizes, wires)
        yield _grown(pairs, len(given), sizes, wires)


def _of_metis(
    pairs: Mapping[Pair, Volume], size: int, sizes: Sequence[int], wires: Wires
) -> Iterable[Sequence[int]]:
    if pymetis is None:
        return
    used = [cluster for cluster, n in enumerate(sizes) if n]
    weights = {pair: wires.mean(volume) for pair, volume in pairs.items()}
    unit = max(weights.values(), default=0) / _HEAVIEST
    edges: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for (a, b), weight in weights.items():
        if weight > 0:
            whole = max(1, round(weight / unit))
            edges[a].append((b, whole))
            edges[b].append((a, whole))
    starts = [0]
    for each in edges:
        starts.append(starts[-1] + len(each))
    graph = pymetis.CSRAdjacency(starts, [to for each in edges for to, _ in each])
    for seed in _SEEDS:
        try:
            found = pymetis.part_graph(
                len(used),
                graph,
                eweights=[weight for each in edges for _, weight in each],
                tpwgts=[sizes[cluster] / size for cluster in used],
                options=pymetis.Options(seed=seed, ufactor=1),
            )
        except RuntimeError:  # METIS gave up, as on 100,000 ranks of which two communicate
            return
        yield [used[part] for part in found.vertex_part]


def _grown(
    pairs: Mapping[Pair, Volume], size: int, sizes: Sequence[int], wires: Wires
) -> Sequence[int]:
    """Fills clusters one after the other, always with the rank that communicates most with the
    ranks already there."""
    weight: list[dict[int, float]] = [{} for _ in range(size)]
    for (a, b), volume in pairs.items():
        weight[a][b] = weight[b][a] = wires.mean(volume)
    alone = [sum(each.values()) for each in weight]
    part = [-1] * size
    for cluster, n in enumerate(sizes):
        pull = dict.fromkeys((rank for rank in range(size) if part[rank] < 0), 0.0)
        queue = [(0.0, alone[rank], rank) for rank in pull]
        heapq.heapify(queue)
        for _ in range(n):
            rank = _strongest(queue, pull)
            del pull[rank]
            part[rank] = cluster
            for to, each in weight[rank].items():
                if to in pull:
                    pull[to] += each
                    heapq.heappush(queue, (-pull[to], alone[to], to))
    return part


def _strongest(queue: list[tuple[float, float, int]], pull: Mapping[int, float]) -> int:
    """Entries whose pull has changed since are stale."""
    while True:
        minus, _, rank = heapq.heappop(queue)
        if pull.get(rank) == -minus:
            return rank
