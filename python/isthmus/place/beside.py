"""The clusters on the launcher's host. If that host is lost, the others go on, if they have more
than half of the ranks. So the launcher gives way to them if it may be cut off (decision 56)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Beside:
    """`clusters` have their ranks or all their gateways on the launcher's host, and may fail.
    `gateways` are all nodes there. At least `least` clusters have to be left."""

    clusters: frozenset[int]
    gateways: frozenset[int]
    least: int

    def json(self) -> dict[str, object]:
        """As agents learn it (docs/control.md, `link`)."""
        return {
            "clusters": sorted(self.clusters),
            "gateways": sorted(self.gateways),
            "least": self.least,
        }

    def stronger(
        self, ranks: Sequence[int], lost: Collection[int], dead: Collection[int]
    ) -> frozenset[int]:
        """The clusters to which a launcher gives way that has `lost` these clusters, and knows that
        all ranks of `dead` have ended. Empty: it goes on. `ranks` are the sizes of all clusters."""
        others = frozenset(range(len(ranks))) - self.clusters
        unknown = others - {*dead}
        if not others <= {*lost} or len(unknown) < self.least:
            return frozenset()
        majority = 2 * sum(ranks[one] for one in unknown) > sum(ranks)
        return unknown if majority else frozenset()
