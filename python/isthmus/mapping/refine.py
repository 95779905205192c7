"""Exchanges ranks between clusters while that makes crossings cheaper."""

import heapq
from collections.abc import Mapping, Sequence
from itertools import combinations

from isthmus.mapping.traffic import Pair, Volume
from isthmus.mapping.wires import Wires

_ROUNDS = 8
_PATIENCE = 50  # a pass ends after so long a row of swaps that made things worse
_EPSILON = 1e-12  # seconds; less is rounding


class Assignment:
    """`part[rank]` is the cluster of a rank; `refine` and `settle` change it."""

    def __init__(
        self,
        part: Sequence[int],
        pairs: Mapping[Pair, Volume],
        wires: Wires,
        allowed: Sequence[frozenset[int]] | None = None,
    ) -> None:
        """`allowed[rank]`: the clusters that a rank may use. All ranks may use all clusters if it
        is None."""
        self.part = list(part)
        self._wires = wires
        self._allowed = allowed
        self._edges: list[list[tuple[int, Volume]]] = [[] for _ in part]
        for (a, b), volume in pairs.items():
            self._edges[a].append((b, volume))
            self._edges[b].append((a, volume))

    @property
    def cost(self) -> float:
        return sum(self._in(rank, own) for rank, own in enumerate(self.part)) / 2

    def refine(self, capacity: Sequence[int]) -> None:
        """Never makes it dearer. No cluster exceeds its capacity, unless it does already."""
        for _ in range(_ROUNDS):
            gained = self._move(capacity)
            for pair in combinations(range(self._wires.clusters), 2):
                gained += self._pass(pair)
            if gained <= _EPSILON:
                return

    def settle(self, sizes: Sequence[int]) -> bool:
        """Moves ranks out of clusters that have more than `sizes`, and out of those that they may
        not use, the cheapest moves first. Returns False if a rank finds no place; the rest is then
        undefined."""
        count = [self.part.count(cluster) for cluster in range(len(sizes))]
        for rank in [r for r, c in enumerate(self.part) if not self._may(r, c)]:
            if not self._find_place(rank, sizes, count):
                return False
        for cluster, size in enumerate(sizes):
            while count[cluster] > size:
                leaving = [
                    (self._gain(rank, to), -rank, to)
                    for rank, own in enumerate(self.part)
                    if own == cluster
                    for to in range(len(sizes))
                    if count[to] < sizes[to] and self._may(rank, to)
                ]
                if not leaving:
                    return False
                _, rank, to = max(leaving)
                self.part[-rank] = to
                count[cluster] -= 1
                count[to] += 1
        return True

    def _find_place(self, rank: int, sizes: Sequence[int], count: list[int]) -> bool:
        """For a rank in a cluster that it may not use: a free slot, or an exchange with another
        rank."""
        own = self.part[rank]
        for to in sorted(range(len(sizes)), key=lambda to: -self._gain(rank, to)):
            if not self._may(rank, to):
                continue
            if count[to] < sizes[to]:
                self.part[rank] = to
                count[own] -= 1
                count[to] += 1
                return True
            others = [r for r, c in enumerate(self.part) if c == to and self._may(r, own)]
            if others:
                other = max(others, key=lambda r: (self._gain(r, own), -r))
                self.part[rank], self.part[other] = to, own
                return True
        return False

    def _may(self, rank: int, cluster: int) -> bool:
        return self._allowed is None or cluster in self._allowed[rank]

    def _in(self, rank: int, cluster: int) -> float:
        """The cost of having a rank in a cluster while all others stay."""
        seconds = self._wires.seconds
        return sum(seconds(v, cluster, self.part[to]) for to, v in self._edges[rank])

    def _gain(self, rank: int, to: int) -> float:
        return self._in(rank, self.part[rank]) - self._in(rank, to)

    def _move(self, capacity: Sequence[int]) -> float:
        """Moves ranks into free slots."""
        count = [self.part.count(cluster) for cluster in range(len(capacity))]
        gained = 0.0
        for rank in range(len(self.part)):
            free = [c for c in range(len(capacity)) if count[c] < capacity[c]]
            open_to = [c for c in free if c != self.part[rank] and self._may(rank, c)]
            if not open_to:
                continue
            gain, to = max((self._gain(rank, c), -c) for c in open_to)
            if gain > _EPSILON:
                count[self.part[rank]] -= 1
                count[-to] += 1
                self.part[rank] = -to
                gained += gain
        return gained

    def _pass(self, pair: tuple[int, int]) -> float:
        """Kernighan and Lin's pass: the best rank of either cluster goes to the other, in turn and
        each once. Then all swaps after the best moment are undone. Returns the saving."""
        gain: dict[int, float] = {}
        queues: dict[int, list[tuple[float, int]]] = {pair[0]: [], pair[1]: []}
        other = {pair[0]: pair[1], pair[1]: pair[0]}
        for rank, own in enumerate(self.part):
            if own in other and self._may(rank, other[own]):
                gain[rank] = self._gain(rank, other[own])
                queues[own].append((-gain[rank], rank))
        for queue in queues.values():
            heapq.heapify(queue)
        total = best = 0.0
        moved: list[int] = []
        kept = 0
        while len(moved) < kept + 2 * _PATIENCE:
            swap: list[int] = []
            for cluster in pair:
                best_there = self._take(queues[cluster], gain, cluster)
                if best_there is None:
                    break
                total += gain.pop(best_there)
                self._go(best_there, other, gain, queues)
                swap.append(best_there)
            if len(swap) < 2:
                for rank in swap:
                    self.part[rank] = other[self.part[rank]]
                break
            moved += swap
            if total > best + _EPSILON:
                best, kept = total, len(moved)
        for rank in moved[kept:]:
            self.part[rank] = other[self.part[rank]]
        return best

    def _take(
        self, queue: list[tuple[float, int]], gain: Mapping[int, float], cluster: int
    ) -> int | None:
        """Entries whose gain has changed since are stale."""
        while queue:
            minus, rank = heapq.heappop(queue)
            if gain.get(rank) == -minus and self.part[rank] == cluster:
                return rank
        return None

    def _go(
        self,
        rank: int,
        other: Mapping[int, int],
        gain: dict[int, float],
        queues: Mapping[int, list[tuple[float, int]]],
    ) -> None:
        before = self.part[rank]
        now = self.part[rank] = other[before]
        seconds = self._wires.seconds
        for to, volume in self._edges[rank]:
            if to not in gain:
                continue
            own = self.part[to]
            there = other[own]
            gain[to] += seconds(volume, own, now) - seconds(volume, there, now)
            gain[to] -= seconds(volume, own, before) - seconds(volume, there, before)
            heapq.heappush(queues[own], (-gain[to], to))
