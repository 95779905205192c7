"""The figures of files that a release must reach, where they are measured."""

from collections.abc import Sequence

from isthmus.base.units import format_bytes
from isthmus_lab.bench.io.results import IoResults
from isthmus_lab.bench.io.tasks import COLLECTIVE, RANDOM, READ, SEQUENTIAL, TRIP, UNDER_WAY
from isthmus_lab.bench.limits import OURS
from isthmus_lab.bench.timed_program import INSIDE, NATIVE_INSIDE
from isthmus_lab.bench.verdicts import Figure, Limit
from isthmus_lab.measuring.samples import NotMeasuredError


def _over_messages(operation: str) -> Figure[IoResults]:
    """At the worst size."""

    def figure(results: IoResults) -> tuple[float, str]:
        worst: tuple[float, str] | None = None
        for size in results.sizes(OURS, operation):
            ours, message = (results.least(OURS, name, size) for name in (operation, "message"))
            if worst is None or message / ours < worst[0]:
                rates = [8e-6 * size / time for time in (ours, message)]
                note = f"{rates[0]:.1f} and {rates[1]:.1f} Mbit/s, {format_bytes(size)}"
                worst = message / ours, note
        if worst is None:
            raise NotMeasuredError(f"{operation}: not measured")
        return worst

    return figure


def _random(results: IoResults) -> tuple[float, str]:
    """Over the round trips of these reads, and the time of their bytes."""
    ours, trip = results.least(OURS, "random", RANDOM), results.least(OURS, "message", TRIP)
    size = max(size for size in results.sizes(OURS, "message"))
    bytes_take = results.least(OURS, "message", size) * RANDOM / size
    allowed = trip * RANDOM / READ / UNDER_WAY + bytes_take
    return ours / allowed, f"{1e3 * ours:.1f} of {1e3 * allowed:.1f} ms"


def _over_native(operation: str) -> Figure[IoResults]:
    """At the worst size."""

    def figure(results: IoResults) -> tuple[float, str]:
        natives = [key for key in results.labels if key.startswith(NATIVE_INSIDE)]
        worst: tuple[float, str] | None = None
        for key in natives:
            for size in results.sizes(key, operation):
                ours, native = (results.least(who, operation, size) for who in (INSIDE, key))
                if worst is None or ours / native > worst[0]:
                    note = f"{1e3 * ours:.1f} and {1e3 * native:.1f} ms, {format_bytes(size)}"
                    worst = ours / native, note
        if worst is None:
            raise NotMeasuredError(f"{operation}: no native MPI was measured")
        return worst

    return figure


_NAMES = {
    "write-all": "collective write, contiguous",
    "read-all": "collective read, contiguous",
    "write-strided": "collective write, strided",
    "read-strided": "collective read, strided",
    "write": "sequential writes of 1 MiB",
    "read": "sequential reads of 1 MiB",
    "random": "reads of 4 KiB anywhere, 64 at a time",
}
# Each limit with its operation.
LIMITS = (
    *(
        (name, Limit("hablot", f"{_NAMES[name]}: rate over messages'", "at least", least,
                     _over_messages(name)))
        for names, least in ((COLLECTIVE, 0.9), (SEQUENTIAL, 0.8))
        for name in names
    ),
    ("random", Limit("hablot", f"{_NAMES['random']}: time over their round trips and bytes",
                     "at most", 1.3, _random)),
    *(
        (name, Limit("loopback", f"{text} inside the home cluster: time over native", "at most",
                     1.2, _over_native(name)))
        for name, text in _NAMES.items()
    ),
)  # fmt: skip


def of_testbed(testbed: str, figures: Sequence[str] = ()) -> list[Limit[IoResults]]:
    """`figures`: only limits of these operations."""
    return [
        limit
        for name, limit in LIMITS
        if limit.testbed == testbed and (not figures or name in figures)
    ]
