"""Which ranks of a program go to which cluster, as in Figures 5 to 7 of Hablot et al. 2007.

All on one site, or split over the wide area, or fewer on one site."""

from collections.abc import Mapping
from dataclasses import dataclass

from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.grid.grid import ClusterSpec

ONE, SPLIT, HALF, QUARTER = "one-site", "split", "half-site", "quarter-site"
LAYOUTS = (ONE, SPLIT, HALF, QUARTER)
_PARTS = {ONE: 1, HALF: 2, QUARTER: 4}

Shares = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Setup:
    """A layout. `n` is the number of ranks of the split layout; `shares` are ranks by cluster."""

    layout: str
    n: int
    shares: Shares

    @property
    def ranks(self) -> int:
        return sum(count for _, count in self.shares)


def setup(
    clusters: Mapping[str, ClusterSpec], layout: str, n: int, site: str | None
) -> Setup | None:
    """Returns None if `n` does not divide that way, or if no cluster has the slots."""
    if layout == SPLIT:
        each, rest = divmod(n, len(clusters))
        shares = [(name, each + (i < rest)) for i, name in enumerate(clusters)]
        if not each or not all(_has(clusters[name], count) for name, count in shares):
            return None
        return Setup(layout, n, tuple(shares))
    part = _PARTS[layout]
    if n % part:
        return None
    names = [site] if site is not None else list(clusters)
    fitting = [name for name in names if _has(clusters[name], n // part)]
    return Setup(layout, n, ((fitting[0], n // part),)) if fitting else None


def check_site(clusters: Mapping[str, ClusterSpec], site: str | None) -> None:
    if site is not None and site not in clusters:
        near = did_you_mean(site, clusters)
        raise UsageError(
            f"--site {site}: the grid has no such cluster{near}; it has {listing(clusters)}"
        )


def most_ranks(clusters: Mapping[str, ClusterSpec]) -> int:
    """The largest power of two that can be split; 2 for each cluster if some do not give their
    slots."""
    slots = [spec.slots for spec in clusters.values() if spec.slots is not None]
    n = 2 * len(clusters) if len(slots) < len(clusters) else min(slots) * len(slots)
    power: int = 1 << (n.bit_length() - 1)
    return max(power, 2)


def _has(spec: ClusterSpec, count: int) -> bool:
    return spec.slots is None or spec.slots >= count
