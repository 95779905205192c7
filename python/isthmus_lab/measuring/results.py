"""Samples, and the figures made from them.

The papers' convention: latencies are minima, bandwidths are maxima; medians stand beside them.
Rates are in bytes per second, times in seconds.
"""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from isthmus.measuring.runs import Run, run_from_json
from isthmus_lab.measuring.samples import NotMeasuredError, Samples


@dataclass
class Results(Samples[Run]):
    """Point-to-point results, with their figures."""

    @staticmethod
    def read(data: dict[str, Any]) -> Run:
        return run_from_json(data)

    def _of(self, contestant: str, figure: str, variant: str = "") -> Iterable[Run]:
        for run in self.runs:
            if (run.contestant, run.task.figure, run.variant) == (contestant, figure, variant):
                yield run

    def of_variant(self, variant: str) -> "Results":
        """The measurements in that variant alone."""
        runs = [replace(run, variant="") for run in self.runs if run.variant == variant]
        return replace(self, runs=runs)

    def _missing(self, contestant: str, what: str) -> NotMeasuredError:
        return NotMeasuredError(f"{self.labels.get(contestant, contestant)}: {what} not measured")

    # -- round trips -------------------------------------------------------------------------

    def sizes(self, contestant: str, figure: str = "pingpong") -> list[int]:
        return sorted({run.task.bytes for run in self._of(contestant, figure) if run.seconds})

    def round_trips(self, contestant: str, size: int) -> list[float]:
        """Every sample; never empty."""
        found = [
            value
            for run in self._of(contestant, "pingpong")
            if run.task.bytes == size
            for value in run.seconds
        ]
        if not found:
            raise self._missing(contestant, f"a pingpong of {size} B")
        return found

    def one_way(self, contestant: str, size: int) -> float:
        return min(self.round_trips(contestant, size)) / 2

    def median_one_way(self, contestant: str, size: int) -> float:
        return statistics.median(self.round_trips(contestant, size)) / 2

    def spread(self, contestant: str, size: int) -> float:
        """The difference of the least one-way times of the passes. Within one pass it is the
        distance of the median from the least."""
        runs = [run for run in self._of(contestant, "pingpong") if run.task.bytes == size]
        least = [min(run.seconds) / 2 for run in runs if run.seconds]
        if len(least) > 1:
            return max(least) - min(least)
        return self.median_one_way(contestant, size) - self.one_way(contestant, size)

    def way(self, contestant: str, way: str, size: int) -> float:
        """The least one-way time by the hosts' clocks: `there`, or `back`."""
        runs = self._of(contestant, way)
        found = [value for run in runs if run.task.bytes == size for value in run.seconds]
        if not found:
            raise self._missing(contestant, f"one way of {size} B, {way},")
        return min(found)

    def bandwidth(self, contestant: str, size: int) -> float:
        return size / self.one_way(contestant, size)

    def median_bandwidth(self, contestant: str, size: int) -> float:
        return size / self.median_one_way(contestant, size)

    def best_bandwidth(self, contestant: str) -> float:
        """The best of the pingpong, at any size."""
        sizes = self.sizes(contestant)
        if not sizes:
            raise self._missing(contestant, "the pingpong")
        return max(self.bandwidth(contestant, size) for size in sizes)

    def largest_bandwidth(self, contestant: str) -> float:
        """That of the largest message of the pingpong."""
        sizes = self.sizes(contestant)
        if not sizes:
            raise self._missing(contestant, "the pingpong")
        return self.bandwidth(contestant, sizes[-1])

    def best_rate(self, contestant: str) -> float:
        """The best one-way rate, in the pingpong or in a stream."""
        try:
            stream = self.rate(contestant, "stream")
        except NotMeasuredError:
            stream = 0.0
        return max(stream, self.best_bandwidth(contestant))

    def smallest(self, contestant: str) -> int:
        sizes = self.sizes(contestant)
        if not sizes:
            raise self._missing(contestant, "the pingpong")
        return sizes[0]

    def loaded(self, contestant: str) -> float:
        """The median round trip beside a stream."""
        found = [value for run in self._of(contestant, "loaded") for value in run.seconds]
        if not found:
            raise self._missing(contestant, "round trips beside a stream")
        return statistics.median(found)

    def paused(self, contestant: str, size: int) -> float:
        """The median time of a message after a pause, over that of one back to back."""
        found = [
            value
            for run in self._of(contestant, "paused")
            if run.task.bytes == size
            for value in run.seconds
        ]
        if not found:
            raise self._missing(contestant, f"a message of {size} B after a pause")
        return statistics.median(found) / 2 / self.median_one_way(contestant, size)

    # -- flows -------------------------------------------------------------------------------

    def message_rates(self, contestant: str, figure: str, variant: str = "") -> list[float]:
        """Messages per second, of all pairs, both ways together."""
        ways = 2 if figure == "bidirectional" else 1
        found = [
            run.pairs * ways * count / seconds
            for run in self._of(contestant, figure, variant)
            for count, seconds in zip(run.messages, run.seconds, strict=True)
        ]
        if not found:
            raise self._missing(contestant, f"{variant} {figure}".strip())
        return found

    def byte_rates(self, contestant: str, figure: str, variant: str = "") -> list[float]:
        """Of all sizes together."""
        self.message_rates(contestant, figure, variant)
        by_size = self.rates_by_size(contestant, figure, variant)
        return [rate for rates in by_size.values() for rate in rates]

    def rates_by_size(
        self, contestant: str, figure: str, variant: str = ""
    ) -> dict[int, list[float]]:
        """Bytes per second of every round, by the size of the messages, ascending."""
        ways = 2 if figure == "bidirectional" else 1
        found: dict[int, list[float]] = {}
        for run in self._of(contestant, figure, variant):
            size = run.task.bytes
            found.setdefault(size, []).extend(
                run.pairs * ways * size * count / seconds
                for count, seconds in zip(run.messages, run.seconds, strict=True)
            )
        return dict(sorted(found.items()))

    def rate(self, contestant: str, figure: str, variant: str = "") -> float:
        """The best rate, in bytes per second."""
        return max(self.byte_rates(contestant, figure, variant))


def half_bandwidth_size(results: Results, contestant: str, full: float) -> float:
    """The message size with which `contestant` reaches half of the bandwidth `full`. The time is
    interpolated linearly between two sizes."""
    before: tuple[float, float] | None = None
    for size in results.sizes(contestant):
        time = results.one_way(contestant, size)
        if size / time >= full / 2:
            if before is None:
                return float(size)
            slope = (time - before[1]) / (size - before[0])
            # size / (t0 + slope (size - s0)) = full / 2
            offset = before[1] - slope * before[0]
            return min(float(size), full / 2 * offset / (1 - full / 2 * slope))
        before = (size, time)
    raise NotMeasuredError(
        f"{results.labels.get(contestant, contestant)}: half of plain TCP's bandwidth was not "
        "reached at any size"
    )
