"""Bytes that ranks handed over to other clusters, over time, by whichever way they then went."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from isthmus.seeing.intervals import Interval

PERIOD = 50_000_000  # nanoseconds


class Handed:
    """By pair of clusters. A rank's cluster is known from its trace; messages to other ranks are
    left out."""

    def __init__(self, clusters: Mapping[int, str]) -> None:
        self._clusters = clusters
        self._bytes: dict[tuple[str, str], dict[int, int]] = defaultdict(lambda: defaultdict(int))

    def add(self, send: Interval, at: int) -> None:
        """Adds a message that was handed over at that time of the common clock."""
        source, target = (self._clusters.get(rank) for rank in send.flow[:2])
        if source and target:
            self._bytes[source, target][at // PERIOD] += send.args["bytes"]

    def rates(self) -> Iterator[tuple[str, int, int]]:
        """The name of the pair, the time, and bytes a second from then on; in order for each
        pair."""
        for (source, target), periods in sorted(self._bytes.items()):
            name = f"{source} -> {target} handed over"
            for period in sorted(periods):
                yield name, period * PERIOD, round(periods[period] * 1e9 / PERIOD)
                if period + 1 not in periods:
                    yield name, (period + 1) * PERIOD, 0
