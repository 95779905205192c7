"""Figures like those of Matsuda et al. 2006 (6 and 7: throughput of bcast and allreduce over the
message) and Treurniet's (8, 10, 12, 14, 16: time of each collective over the size)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isthmus.bench.coll import tasks
from isthmus.bench.coll.results import CollResults
from isthmus.bench.coll.tasks import size_text
from isthmus.bench.figures import folder_for, pyplot, save
from isthmus.measuring.samples import NotMeasuredError

_THROUGHPUT = {"bcast": ("M P / T", 1), "allreduce": ("M P² / T", 2)}
_MARKS = (8, 512, 32 << 10, 1 << 20, 32_000_000)


def coll(results: CollResults, name: str, folder: Path) -> list[Path]:
    """Draws what was measured at more than one size; the paths, each as PNG and SVG."""
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
            path = folder / re.sub(r"[^\w.]+", "-", f"{name} {variant} {collective}{order}")
            one = _Drawing(results, collective, found, interleaved, variant, title, path)
            made += one.times()
            if collective in _THROUGHPUT:
                made += one.throughput(*_THROUGHPUT[collective])
    return made


class _Drawing:
    """Curves of one collective."""

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
        plot = pyplot()
        figure, axes = plot.subplots(figsize=(8, 5))
        for label, style, points in self._curves():
            axes.plot(
                [size for size, _ in points],
                [1e3 * time for _, time in points],
                label=label,
                **style,
            )
        axes.set_yscale("log")
        axes.set_ylabel("time until the last rank is done, ms (medians)")
        return self._finish(plot, figure, axes, self._path)

    def throughput(self, formula: str, power: int) -> list[Path]:
        plot = pyplot()
        figure, axes = plot.subplots(figsize=(8, 5))
        factor = 1e-6 * self._ranks() ** power
        for label, style, points in self._curves():
            axes.plot(
                [size for size, _ in points],
                [factor * size / time for size, time in points],
                label=label,
                **style,
            )
        axes.set_ylabel(f"{formula}, MB/s")
        axes.set_ylim(bottom=0)
        path = self._path.with_name(f"{self._path.name}-throughput")
        return self._finish(plot, figure, axes, path)

    def _ranks(self) -> int:
        return max(run.ranks for run in self._results.runs if run.variant == self._variant)

    def _curves(self) -> list[tuple[str, dict[str, Any], list[tuple[int, float]]]]:
        """The contestants, and what the wires allow."""
        curves = []
        for key in self._results.labels:
            points = []
            for size in self._sizes:
                try:
                    time = self._results.time(
                        key, self._collective, size, self._interleaved, self._variant
                    )
                except NotMeasuredError:
                    continue
                points.append((size, time))
            if points:
                curves.append((self._results.labels[key], _style(key), points))
        if self._variant in self._results.wires:
            points = [
                (size, self._results.bound(self._collective, size, self._variant))
                for size in self._sizes
            ]
            curves.append(("bound", {"color": "black", "linestyle": ":"}, points))
        return curves

    def _finish(self, plot: Any, figure: Any, axes: Any, path: Path) -> list[Path]:
        axes.set_xscale("log")
        marks = [size for size in _MARKS if self._sizes[0] <= size <= self._sizes[-1]]
        axes.set_xticks(marks or self._sizes, [size_text(size) for size in marks or self._sizes])
        axes.minorticks_off()
        what = "block of a rank" if self._collective in tasks.BLOCKS else "message"
        axes.set_xlabel(f"size of the {what}")
        axes.grid(visible=True, alpha=0.3)
        axes.set_title(self._title)
        axes.legend(fontsize="small")
        return save(plot, figure, path)


def _style(key: str) -> dict[str, Any]:
    if key.startswith("native-"):
        return {"linewidth": 1.1, "marker": ".", "markersize": 4}
    if "/" in key:
        return {"linewidth": 1.3, "linestyle": "--", "marker": "x", "markersize": 4}
    return {"linewidth": 2.4, "marker": "o", "markersize": 4}
