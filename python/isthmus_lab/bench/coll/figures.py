"""Figures like those of Matsuda et al. 2006 and Treurniet. Matsuda's 6 and 7 show the throughput of
bcast and allreduce over the message size. Treurniet's 8, 10, 12, 14 and 16 show the time of each
collective over the size."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from isthmus_lab.bench.chart import Chart, folder_for, slug
from isthmus_lab.bench.coll import tasks
from isthmus_lab.bench.coll.results import CollResults
from isthmus_lab.bench.coll.roster import label_in
from isthmus_lab.bench.coll.tasks import size_text
from isthmus_lab.bench.coll.variants import ranks_of
from isthmus_lab.bench.figures import FEW
from isthmus_lab.measuring.samples import where_measured

THROUGHPUT = {"bcast": ("M P / T", 1), "allreduce": ("M P² / T", 2)}
_MARKS = (8, 512, 32 << 10, 1 << 20, 32_000_000)


def coll(results: CollResults, name: str, folder: Path) -> list[Path]:
    """Draws everything with more than one size; returns the paths, each as PNG and SVG."""
    folder_for(folder)
    made: list[Path] = []
    for variant in dict.fromkeys(run.variant for run in results.runs):
        sizes: dict[tuple[str, bool], list[int]] = {}
        for collective, size, interleaved in results.cells(variant):
            sizes.setdefault((collective, interleaved), []).append(size)
        for (collective, interleaved), found in sizes.items():
            if len(found) < 2:
                continue
            order = ", interleaved" if interleaved else ""
            title = f"{collective} on {name}{', ' + variant if variant else ''}{order}"
            path = folder / slug(f"{name} {variant} {collective}{order}")
            one = _Drawing(results, collective, found, interleaved, variant, title, path)
            made += one.times()
            if collective in THROUGHPUT:
                made += one.throughput(*THROUGHPUT[collective])
    return made + _over_ranks(results, name, folder)


def _over_ranks(results: CollResults, name: str, folder: Path) -> list[Path]:
    """Like Treurniet's 7, 9, 11, 13, 15 and 17: for each collective and size, time over the number
    of ranks."""
    numbers: dict[str, list[tuple[int, str]]] = {}
    for variant in dict.fromkeys(run.variant for run in results.runs):
        if found := ranks_of(variant):
            numbers.setdefault(found[0], []).append((found[1], variant))
    made: list[Path] = []
    for before, variants in numbers.items():
        cells = dict.fromkeys(cell for _, variant in variants for cell in results.cells(variant))
        for cell in cells if len(variants) > 1 else ():
            made += _of_cell(results, name, folder, cell, before, sorted(variants))
    return made


def _of_cell(
    results: CollResults,
    name: str,
    folder: Path,
    cell: tuple[str, int, bool],
    before: str,
    variants: Sequence[tuple[int, str]],
) -> list[Path]:
    collective, size, interleaved = cell
    what = collective if collective == "barrier" else f"{collective} of {size_text(size)}"
    title = f"{what} on {name}{', ' + before if before else ''}"
    vertical = "time until the last rank is done, ms (medians)"
    chart = Chart(title + (", interleaved" if interleaved else ""), vertical)
    for key in results.labels:
        time_in = partial(results.time, key, collective, size, interleaved)
        times = where_measured([variant for _, variant in variants], time_in)
        points = [(ranks, 1e3 * times[variant]) for ranks, variant in variants if variant in times]
        chart.curve(points, results.labels[key], **_style(key))
    chart.over("ranks", [ranks for ranks, _ in variants])
    return chart.save(folder / slug(f"{title} over ranks"))


class _Drawing:
    """The curves of one collective."""

    def __init__(
        self,
        results: CollResults,
        collective: str,
        sizes: Sequence[int],
        interleaved: bool,
        variant: str,
        title: str,
        path: Path,
    ) -> None:
        self._results, self._collective, self._sizes = results, collective, sizes
        self._interleaved, self._variant = interleaved, variant
        self._title, self._path = title, path

    def times(self) -> list[Path]:
        chart = Chart(self._title, "time until the last rank is done, ms (medians)", log=True)
        for label, style, points in self._curves():
            chart.curve([(size, 1e3 * time) for size, time in points], label, **style)
        return self._finish(chart, self._path)

    def throughput(self, formula: str, power: int) -> list[Path]:
        chart = Chart(self._title, f"{formula}, MB/s")
        factor = 1e-6 * self._ranks() ** power
        for label, style, points in self._curves():
            chart.curve([(size, factor * size / time) for size, time in points], label, **style)
        return self._finish(chart, self._path.with_name(f"{self._path.name}-throughput"))

    def _ranks(self) -> int:
        return max(run.ranks for run in self._results.runs if run.variant == self._variant)

    def _curves(self) -> list[tuple[str, dict[str, Any], list[tuple[int, float]]]]:
        """The contestants, and the bound from the wires."""
        curves = []
        for key in self._results.labels:
            times = where_measured(self._sizes, partial(self._time, key))
            if times:
                label = label_in(self._results.labels[key], self._collective)
                curves.append((label, _style(key), list(times.items())))
        if self._variant in self._results.wires:
            points = [
                (size, self._results.bound(self._collective, size, self._variant))
                for size in self._sizes
            ]
            curves.append(("bound", {"color": "black", "linestyle": ":"}, points))
        return curves

    def _time(self, key: str, size: int) -> float:
        return self._results.time(key, self._collective, size, self._interleaved, self._variant)

    def _finish(self, chart: Chart, path: Path) -> list[Path]:
        sizes = list(self._sizes)
        marks = [size for size in _MARKS if sizes[0] <= size <= sizes[-1]]
        marks = sizes if len(sizes) <= FEW or not marks else marks
        what = "block of a rank" if self._collective in tasks.BLOCKS else "message"
        chart.axes.set_xscale("log")
        chart.over(f"size of the {what}", marks, map(size_text, marks))
        return chart.save(path)


def _style(key: str) -> dict[str, Any]:
    if key.startswith(("native-", "inside-")):
        return {"linewidth": 1.1, "marker": ".", "markersize": 4}
    if "/" in key:
        return {"linewidth": 1.3, "linestyle": "--", "marker": "x", "markersize": 4}
    return {"linewidth": 2.4, "marker": "o", "markersize": 4}
