"""Parts that recipes of several papers share: words of command lines, and readings of results."""

import statistics
from collections.abc import Callable, Iterable
from typing import Any

from isthmus.measuring.tasks import LATENCY_BYTES
from isthmus_lab.bench.app.layouts import SPLIT
from isthmus_lab.bench.limits import DIRECT
from isthmus_lab.bench.papers.recipe import Measured
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import NotMeasuredError, Samples, where_measured


def repeated(flag: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for value in values for word in (flag, value))


def only(*contestants: str) -> tuple[str, ...]:
    return repeated("--only", contestants)


def natives(results: Samples[Any]) -> list[str]:
    """The native MPIs that were measured; never empty."""
    found = [key for key in results.measured() if key.startswith("native-")]
    if not found:
        raise NotMeasuredError("no native MPI was measured")
    return found


def noise_of(*contestants: str, where: str = "") -> Callable[[Measured], float]:
    """The uncertainty of a difference of these latencies, in microseconds."""

    def here(measured: Measured) -> float:
        results = measured.p2p(where)
        return 1e6 * sum(results.spread(key, LATENCY_BYTES) for key in contestants)

    return here


def best_native(results: Results, family: str = "") -> str:
    """The native MPI of that family with the least latency."""
    keys = [key for key in natives(results) if key.startswith(f"native-{family}")]
    if not keys:
        raise NotMeasuredError(f"no native {family} was measured")
    return min(keys, key=lambda key: results.one_way(key, LATENCY_BYTES))


def gain(contestant: str, kernel: str, layout: str, where: str = "") -> Callable[[Measured], float]:
    """The speed when split over the wide area, over that in the layout; with the most ranks."""

    def here(measured: Measured) -> float:
        results = measured.app(where)
        for program in results.programs():
            if program.startswith(f"{kernel}."):
                return results.gain(contestant, program, max(results.numbers()), layout)
        raise NotMeasuredError(f"{kernel} was not measured")

    return here


def over_native(measured: Measured, where: str = "") -> list[float]:
    """For each program, Isthmus's time, direct, over that of the best native MPI, both split; never
    empty."""
    results = measured.app(where)
    others = [key for key in results.measured() if key.startswith("native-")]
    ratios = where_measured(
        [cell for cell in results.cells("") if cell.layout == SPLIT],
        lambda cell: results.best(DIRECT, cell) / results.best_of(others, cell)[0],
        "no program was measured with Isthmus and with a native MPI",
    )
    return list(ratios.values())


def mean_over_native(measured: Measured) -> float:
    return statistics.geometric_mean(over_native(measured))


def as_fast(measured: Measured) -> float:
    """The number of programs that take at most 1.02 times the best native MPI's time."""
    return float(sum(ratio <= 1.02 for ratio in over_native(measured)))
