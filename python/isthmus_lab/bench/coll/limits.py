"""The figures of collectives that a release must reach, on the testbeds for them."""

import itertools
from collections.abc import Sequence
from functools import partial

from isthmus_lab.bench.coll.plan import LARGE
from isthmus_lab.bench.coll.results import CollResults
from isthmus_lab.bench.coll.roster import DIRECT, OLDER, SENDERS, paper
from isthmus_lab.bench.coll.tasks import KIB, size_text
from isthmus_lab.bench.coll.variants import LOSSY
from isthmus_lab.bench.limits import PLAIN
from isthmus_lab.bench.verdicts import Figure, Limit
from isthmus_lab.measuring.samples import NotMeasuredError, where_measured


def _over_bound(collective: str, sizes: Sequence[int], variant: str = "") -> Figure[CollResults]:
    """The worst of these sizes."""

    def figure(results: CollResults) -> tuple[float, str]:
        ratios = {}
        for size in sizes:
            ours = results.time(DIRECT, collective, size, variant=variant)
            ratios[size] = ours / results.bound(collective, size, variant)
        return _worst(ratios)

    return figure


def _worst(ratios: dict[int, float]) -> tuple[float, str]:
    note = ", ".join(f"{size_text(size)}: {ratio:.3f}" for size, ratio in ratios.items())
    return max(ratios.values()), note if len(ratios) > 1 else ""


def _beyond_delay(results: CollResults) -> tuple[float, str]:
    """Milliseconds beyond the wide area's delay, the worst of three."""
    found = {}
    for collective, size in (("barrier", 0), ("bcast", 8), ("allreduce", 8)):
        beyond = results.time(DIRECT, collective, size) - results.bound("barrier", 0)
        found[collective] = 1e3 * beyond
    return max(found.values()), ", ".join(f"{name}: {ms:.2f}" for name, ms in found.items())


def _against_peers(results: CollResults) -> tuple[float, str]:
    """The worst collective and size: our time over the best native MPI's, under any setting;
    without encryption, like native MPIs, if that was measured."""
    ratios: list[tuple[float, str]] = []
    for collective, size, interleaved in results.cells():
        of_cell = partial(results.time, collective=collective, size=size, interleaved=interleaved)
        times = where_measured(results.labels, of_cell)
        natives = [key for key in times if key.startswith("native-")]
        ours = next((key for key in (PLAIN, DIRECT) if key in times), None)
        if ours and natives:
            best = min(natives, key=lambda key: times[key])
            what = f"{collective} {size_text(size)}"
            note = f"worst: {what}, {results.labels[ours]} over {results.labels[best]}"
            ratios.append((times[ours] / times[best], note))
    if not ratios:
        raise NotMeasuredError("no native MPI was measured")
    worst = max(ratios, key=lambda one: one[0])
    absent = [
        key for key in results.labels if key.startswith("native-") and key not in results.measured()
    ]
    note = f"; {len(absent)} native MPIs and settings not measured" if absent else ""
    return worst[0], worst[1] + note


def _interleaved(collective: str, sizes: Sequence[int]) -> Figure[CollResults]:
    def figure(results: CollResults) -> tuple[float, str]:
        ratios = {}
        for size in sizes:
            mixed = results.time(DIRECT, collective, size, interleaved=True)
            ratios[size] = mixed / results.time(DIRECT, collective, size)
        return _worst(ratios)

    return figure


def _growing(collective: str) -> Figure[CollResults]:
    """The least gain from twice the senders; the note has the gains over the older algorithm."""

    def figure(results: CollResults) -> tuple[float, str]:
        base = results.time(paper(OLDER), collective, 32_000_000)
        keys = [paper(f"senders={n}") for n in SENDERS]
        times = [results.time(key, collective, 32_000_000) for key in keys]
        gains = ", ".join(f"{n}: {base / time:.2f}" for n, time in zip(SENDERS, times, strict=True))
        least = min(fewer / more for fewer, more in itertools.pairwise(times))
        return least, f"gain over {results.labels[paper(OLDER)]} with n senders: {gains}"

    return figure


def _limits() -> list[Limit[CollResults]]:
    made = [
        Limit(
            "matsuda", f"32 MB {collective} of the paper: twice the senders over once", "at least",
            1.0, _growing(collective),
        )
        for collective in ("bcast", "allreduce")
    ]  # fmt: skip
    for collective in ("bcast", "allreduce"):
        small, large = _over_bound(collective, [256 * KIB]), _over_bound(collective, LARGE)
        made += [
            Limit("matsuda", f"256 KiB {collective} over its bound", "at most", 1.25, small),
            Limit("matsuda", f"1 to 32 MB {collective} over its bound", "at most", 1.06, large),
        ]
    for collective in ("alltoall", "allgather"):
        figure = _over_bound(collective, [64 * KIB])
        made.append(
            Limit("matsuda", f"64 KiB {collective} over its bound", "at most", 1.15, figure)
        )
    made.append(
        Limit("matsuda", "any collective over the best native one", "at most", 1.02, _against_peers)
    )
    for collective in ("bcast", "allreduce"):
        figure = _interleaved(collective, [256 * KIB, 3_200_000])
        made.append(
            Limit("matsuda", f"{collective} interleaved over contiguous", "at most", 1.1, figure)
        )
    for collective in ("bcast", "allreduce"):
        figure = _over_bound(collective, [3_200_000], LOSSY)
        name = f"3.2 MB {collective} with {LOSSY}, over its bound"
        made.append(Limit("matsuda", name, "at most", 1.3, figure))
    made.append(
        Limit(
            "matsuda", "8 B barrier, bcast, allreduce beyond the delay", "at most", 1.0,
            _beyond_delay, "ms",
        )
    )  # fmt: skip
    made.append(
        Limit("room", "any collective over the best native job", "at most", 1.15, _against_peers)
    )
    return made


LIMITS = _limits()


def of_testbed(testbed: str) -> list[Limit[CollResults]]:
    return [limit for limit in LIMITS if limit.testbed == testbed]
