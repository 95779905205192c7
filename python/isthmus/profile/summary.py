"""Sums of a profile: the columns of the paper's Table II, and the traffic between clusters."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from isthmus.profile.model import Pair, Profile
from isthmus.profile.ranktold import Collective


@dataclass
class Sum:
    """Messages or calls, and their bytes, by the logarithm of their size."""

    messages: int = 0
    bytes: int = 0
    sizes: dict[int, int] = field(default_factory=dict)

    def add(self, messages: int, count: int, sizes: dict[int, int]) -> None:
        self.messages += messages
        self.bytes += count
        for size, number in sizes.items():
            self.sizes[size] = self.sizes.get(size, 0) + number


@dataclass(frozen=True)
class CollectiveSum:
    function: str
    size: int  # of the communicator; 0: not known
    clusters: int
    operations: float
    given: Sum
    seconds: float  # for an average member


def of_rows(rows: Iterable[Pair]) -> Sum:
    total = Sum()
    for _, _, messages, count, sizes in rows:
        total.add(messages, count, sizes)
    return total


def by_clusters(profile: Profile, rows: Iterable[Pair]) -> dict[tuple[int, int], Sum]:
    """Sums from cluster to cluster; rows with unknown receivers are left out."""
    home = profile.cluster_of()
    sums: dict[tuple[int, int], Sum] = {}
    for source, target, messages, count, sizes in rows:
        if source in home and target in home:
            ends = home[source], home[target]
            sums.setdefault(ends, Sum()).add(messages, count, sizes)
    return sums


def crossing(profile: Profile, rows: Iterable[Pair]) -> Sum:
    total = Sum()
    for (source, target), part in by_clusters(profile, rows).items():
        if source != target:
            total.add(part.messages, part.bytes, part.sizes)
    return total


def collectives(profile: Profile) -> list[CollectiveSum]:
    """Sums by function and shape of the communicator, the costliest first."""
    found: dict[tuple[str, int, int], list[Collective]] = {}
    for call in profile.collectives:
        shape = (0, 0)
        if call.communicator is not None:
            of = profile.communicators[call.communicator]
            shape = of.size, of.clusters
        found.setdefault((call.function, *shape), []).append(call)
    sums = []
    for (function, size, clusters), calls in found.items():
        given = Sum()
        for call in calls:
            given.add(call.entered, call.bytes, call.sizes)
        sums.append(
            CollectiveSum(
                function=function,
                size=size,
                clusters=clusters,
                operations=sum(map(profile.operations, calls)) if size else given.messages,
                given=given,
                seconds=sum(call.seconds for call in calls) / max(1, len(profile.ranks)),
            )
        )
    return sorted(sums, key=lambda each: (-each.seconds, each.function))


@dataclass(frozen=True)
class CallTime:
    """For an average rank."""

    function: str
    mpi: float
    wan: float


def calls(profile: Profile) -> list[CallTime]:
    """The calls with their time in MPI, ordered by the time waiting for other clusters."""
    sums: dict[str, list[float]] = {}
    for rank in profile.ranks:
        for function, (mpi, wan) in rank.calls.items():
            both = sums.setdefault(function, [0.0, 0.0])
            both[0] += mpi
            both[1] += wan
    n = max(1, len(profile.ranks))
    every = [CallTime(function, mpi / n, wan / n) for function, (mpi, wan) in sums.items()]
    return sorted(every, key=lambda call: (-call.wan, -call.mpi))
