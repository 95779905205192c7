"""Pictures of simulations: time over the ranks and over the size, by algorithm."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from isthmus_lab.bench.chart import Chart, folder_for, slug
from isthmus_lab.bench.coll.figures import THROUGHPUT
from isthmus_lab.bench.coll.tasks import size_text
from isthmus_lab.bench.sim.results import SimRun


def draw(runs: Sequence[SimRun], folder: Path) -> list[Path]:
    """Draws simulations of more than one number of ranks, or size; returns the paths."""
    folder_for(folder)
    made: list[Path] = []
    for collective in dict.fromkeys(run.collective for run in runs):
        for clusters in dict.fromkeys(run.clusters for run in runs):
            mine = [r for r in runs if (r.collective, r.clusters) == (collective, clusters)]
            for size in dict.fromkeys(run.bytes for run in mine):
                some = [run for run in mine if run.bytes == size]
                title = f"{some[0].what}, {clusters} clusters"
                made += _curves(some, title, "ranks", lambda run: run.ranks, folder)
            for ranks in dict.fromkeys(run.ranks for run in mine):
                some = [run for run in mine if run.ranks == ranks]
                title = f"{collective}, {clusters} clusters, {ranks} ranks"
                made += _curves(some, title, "size", lambda run: run.bytes, folder)
                if collective in THROUGHPUT:
                    made += _throughput(some, title, folder)
    return made


def _throughput(runs: Sequence[SimRun], title: str, folder: Path) -> list[Path]:
    """Like Matsuda et al.'s Figure 6."""
    sizes = sorted({run.bytes for run in runs})
    if len(sizes) < 2:
        return []
    formula, power = THROUGHPUT[runs[0].collective]
    chart = Chart(title, f"{formula}, MB/s (simulated)")
    for asked in dict.fromkeys(run.asked for run in runs):
        points = sorted(
            (run.bytes, 1e-6 * run.bytes * run.ranks**power / run.seconds)
            for run in runs
            if run.asked == asked
        )
        chart.curve(points, asked or "chosen", **_style(asked))
    chart.axes.set_xscale("log")
    chart.over("size of the message", sizes, map(size_text, sizes))
    chart.axes.tick_params(axis="x", rotation=30)
    return chart.save(folder / slug(f"sim {title} throughput"))


def _curves(
    runs: Sequence[SimRun], title: str, what: str, over: Callable[[SimRun], int], folder: Path
) -> list[Path]:
    marks = sorted({over(run) for run in runs})
    if len(marks) < 2:
        return []
    chart = Chart(title, "simulated time until the last rank is done, ms", log=True)
    for asked in dict.fromkeys(run.asked for run in runs):
        points = sorted((over(run), 1e3 * run.seconds) for run in runs if run.asked == asked)
        chart.curve(points, asked or "chosen", **_style(asked))
    bound = sorted({(over(run), 1e3 * run.bound) for run in runs})
    chart.curve(bound, "bound", color="black", linestyle=":")
    chart.axes.set_xscale("log")
    chart.over(what, marks, [size_text(m) if what == "size" else f"{m:,}" for m in marks])
    return chart.save(folder / slug(f"sim {title} over {what}"))


def _style(asked: str) -> dict[str, Any]:
    if asked:
        return {"linewidth": 1.3, "linestyle": "--", "marker": "x", "markersize": 4}
    return {"linewidth": 2.6, "marker": "o", "markersize": 5}
