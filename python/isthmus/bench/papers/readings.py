"""What recipes of several papers have in common: words of command lines, and what is read off
results."""

from collections.abc import Callable, Iterable

from isthmus.bench.papers.recipe import Measured
from isthmus.measuring.results import Results
from isthmus.measuring.samples import NotMeasuredError


def repeated(flag: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for value in values for word in (flag, value))


def only(*contestants: str) -> tuple[str, ...]:
    return repeated("--only", contestants)


def natives(results: Results) -> list[str]:
    """The native MPIs that were measured; never empty."""
    found = [key for key in results.measured() if key.startswith("native-")]
    if not found:
        raise NotMeasuredError("no native MPI was measured")
    return found


def gain(contestant: str, kernel: str, layout: str) -> Callable[[Measured], float]:
    """Times as fast, split over the wide area, as in the layout; with the most ranks."""

    def here(measured: Measured) -> float:
        results = measured.app()
        for program in results.programs():
            if program.startswith(f"{kernel}."):
                return results.gain(contestant, program, max(results.numbers()), layout)
        raise NotMeasuredError(f"{kernel} was not measured")

    return here
