"""Which cluster has failed, in a run that goes on without it. The launcher alone decides that, so
no two parts of a run disagree. Pure: no clock, no agents."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from isthmus.place.survival import Survival

_MOST_WEIGHED = 12  # clusters in one conflict of which all choices are compared
_KEPT = 1 << 40  # the weight of a cluster that may not leave, in ranks


@dataclass(frozen=True)
class Watcher:
    """A gateway: the clusters that it serves, and the gateways to which it passes what is for
    another cluster."""

    serves: tuple[int, ...]
    routes: Mapping[int, Collection[int]]  # by cluster


class Failing:
    """For one run. Clusters are the indices of the plan's."""

    def __init__(
        self,
        survival: Survival | None,
        clusters: Sequence[tuple[str, int]],
        gateways: Mapping[int, Watcher],
    ) -> None:
        """`clusters` are names and numbers of ranks; `gateways` are by node."""
        self._survival = survival
        self._names = [name for name, _ in clusters]
        self._ranks = [ranks for _, ranks in clusters]
        self._gateways = dict(gateways)
        self._suspected: dict[tuple[int, int], str] = {}  # by gateway and cluster: why
        self.failed: set[int] = set()

    @property
    def left(self) -> int:
        """The number of clusters that have not failed."""
        return len(self._names) - len(self.failed)

    def may_leave(self, cluster: int) -> bool:
        return self._survival is not None and self._names[cluster] in self._survival.may_leave

    def lose(self, clusters: Collection[int], *, joined: bool, more: int = 0) -> bool:
        """These are lost together. True: the run goes on without them, and they have failed from
        now on. False: it ends. `joined`: all ranks of the run have called MPI_Init. `more` clusters
        came later."""
        lost = set(clusters) - self.failed
        if not joined or not self._survival or not all(self.may_leave(one) for one in lost):
            return False
        if self.left + more - len(lost) < self._survival.least:
            return False
        self.failed |= lost
        return True

    # -- suspicions --------------------------------------------------------------------------

    def suspect(self, gateway: int, cluster: int, why: str) -> None:
        """This gateway does not reach that cluster any more."""
        if gateway in self._gateways and 0 <= cluster < len(self._names):
            self._suspected.setdefault((gateway, cluster), why)

    def lose_gateway(self, gateway: int) -> None:
        """It is gone: its cluster sees by its other gateways alone."""
        self._gateways.pop(gateway, None)

    def suspects(self) -> list[tuple[int, str]]:
        """The clusters that fail for the suspicions up to now, and why. If two clusters suspect
        each other, the one with fewer ranks fails. If there are several pairs, the choice is the
        one that leaves no pair and loses the fewest ranks. Among equals it is the later clusters.
        If there are no pairs, a suspected cluster fails if it suspects no other."""
        edges = self._edges()
        pairs = sorted((a, b) for a, b in edges if a < b and (b, a) in edges)
        if pairs:
            return [(one, self._why(one)) for one in self._cheapest(pairs)]
        if not edges:
            return []
        of = [suspect for _, suspect in edges]
        worst = max(of, key=lambda one: (of.count(one), -self._weight(one), one))
        return [(worst, self._why(worst))]

    def _edges(self) -> set[tuple[int, int]]:
        """Pairs of living clusters of which the first does not reach the second by any of its
        gateways."""
        living = [one for one in range(len(self._names)) if one not in self.failed]
        found = set()
        for b in living:
            blocked = self._without_a_way(b)
            for a in living:
                ways = [
                    node for node, one in self._gateways.items()
                    if a in one.serves and b in one.routes
                ]  # fmt: skip
                if a != b and ways and blocked.issuperset(ways):
                    found.add((a, b))
        return found

    def _without_a_way(self, cluster: int) -> set[int]:
        """The gateways that do not reach it. A gateway that suspects a cluster does not report this
        to the gateways behind it. So their routes decide."""
        blocked = {node for node, suspect in self._suspected if suspect == cluster}
        routed = {
            n: one.routes[cluster] for n, one in self._gateways.items() if cluster in one.routes
        }
        while True:
            more = {
                node for node, ways in routed.items()
                if node not in blocked and ways and blocked.issuperset(ways)
            }  # fmt: skip
            if not more:
                return blocked
            blocked |= more

    def _weight(self, cluster: int) -> int:
        return self._ranks[cluster] + (0 if self.may_leave(cluster) else _KEPT)

    def _cheapest(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        involved = sorted({one for pair in pairs for one in pair})
        if len(involved) > _MOST_WEIGHED:
            a, b = pairs[0]
            return [min(a, b, key=lambda one: (self._weight(one), -one))]
        choices: list[tuple[int, ...]] = [
            choice
            for count in range(1, len(involved))
            for choice in combinations(involved, count)
            if all(a in choice or b in choice for a, b in pairs)
        ]
        cheapest = min(choices, key=self._cost)
        return list(cheapest)

    def _cost(self, choice: tuple[int, ...]) -> tuple[int, int, list[int]]:
        """Later clusters cost less than equal ones before them."""
        return sum(map(self._weight, choice)), len(choice), sorted(-one for one in choice)

    def _why(self, cluster: int) -> str:
        of = [why for (_, suspect), why in self._suspected.items() if suspect == cluster]
        return of[0] if of else "the other clusters do not reach it any more"
