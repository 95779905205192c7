"""Figures like those of Hablot et al. (5 to 7: bars of relative times) and of Treurniet (18 to 22:
speed over the number of ranks), and times over the delay of the wide area."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from isthmus.base.units import parse_time
from isthmus_lab.bench.app.layouts import HALF, ONE, QUARTER, SPLIT
from isthmus_lab.bench.app.results import AppResults, Cell
from isthmus_lab.bench.chart import Chart, folder_for, pyplot, save, slug
from isthmus_lab.measuring.samples import where_measured

Value = Callable[[str, str], float]  # for a contestant and a program
DELAY = "delay "  # names of variants begin with this


def app(results: AppResults, name: str, folder: Path) -> list[Path]:
    """Draws the measurements; returns the paths, each as PNG and SVG."""
    folder_for(folder)
    made: list[Path] = []
    for variant in results.variants():
        for n in results.numbers():
            made += _bars_of(results, name, folder, variant, n)
        if len(results.numbers()) > 1:
            made += _speed_ups(results, name, folder, variant)
    delays = [variant for variant in results.variants() if variant.startswith(DELAY)]
    if len(delays) > 1:
        made += _over_delay(results, name, folder, delays)
    return made


# -- bars -----------------------------------------------------------------------------------------


def _bars_of(results: AppResults, name: str, folder: Path, variant: str, n: int) -> list[Path]:
    made: list[Path] = []
    where = f"{name}{', ' + variant if variant else ''}, {n} ranks"

    def path(what: str) -> Path:
        return folder / slug(f"{name} {variant} {n} {what}")

    if reference := _reference(results):
        label = results.labels[reference]

        def relative(key: str, program: str) -> float:
            cell = Cell(program, n, SPLIT, variant)
            return results.best(reference, cell) / results.best(key, cell)

        title = f"Split over {where}: times as fast as {label}"
        made += _bars(results, relative, title, path("contestants"))
    for layout in (ONE, HALF, QUARTER):

        def gain(key: str, program: str, layout: str = layout) -> float:
            return results.gain(key, program, n, layout, variant)

        title = f"Split over {where}: times as fast as {layout}"
        made += _bars(results, gain, title, path(layout))
    return made


def _reference(results: AppResults) -> str | None:
    """The contestant for comparison: the first native MPI with default settings, else the first."""
    keys = results.measured()
    natives = [key for key in keys if key.startswith("native-") and key.endswith("-default")]
    return next(iter([*natives, *keys]), None) if len(keys) > 1 else None


def _bars(results: AppResults, value: Value, title: str, path: Path) -> list[Path]:
    """A group for each program, a bar for each contestant; nothing without values."""
    programs = results.programs()
    bars = {
        key: found
        for key in results.measured()
        if (found := where_measured(programs, partial(value, key)))
    }
    if not bars:
        return []
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(max(6.0, 1.2 * len(programs)), 4.5))
    width = 0.8 / len(bars)
    for j, (key, found) in enumerate(bars.items()):
        places = [programs.index(one) + (j - (len(bars) - 1) / 2) * width for one in found]
        axes.bar(places, list(found.values()), width, label=results.labels[key])
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(programs)), programs)
    axes.set_ylabel("relative speed (best of all executions)")
    axes.set_title(title, fontsize="medium")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return save(plot, figure, path)


# -- curves ---------------------------------------------------------------------------------------


def _speed_ups(results: AppResults, name: str, folder: Path, variant: str) -> list[Path]:
    """For each program: its speed-up over one rank, if the fewest ranks of one site are taken to
    lose nothing."""
    made: list[Path] = []
    for program in results.programs():
        curves = _of_ranks(results, program, variant)
        fewest = [(ranks[0][0], ranks[0][1], layout) for _, layout, ranks in curves]
        if not any(len(ranks) > 1 for _, _, ranks in curves):
            continue
        count, seconds, _ = min(fewest, key=lambda one: (one[0], one[2] == SPLIT, one[1]))
        where = f"{program} on {name}{', ' + variant if variant else ''}"
        unit = f"{count} rank{'s' if count > 1 else ''} of one site: {count}"
        chart = Chart(where, f"speed-up ({unit})")
        for key, layout, ranks in curves:
            points = [(n, count * seconds / time) for n, time in ranks]
            line = "-" if layout == SPLIT else "--"
            label = f"{results.labels[key]}, {layout}"
            chart.curve(points, label, linestyle=line, marker="o", markersize=4)
        chart.axes.set_xlabel("ranks")
        made += chart.save(folder / slug(f"{name} {variant} {program} speed-up"))
    return made


def _of_ranks(
    results: AppResults, program: str, variant: str
) -> list[tuple[str, str, list[tuple[int, float]]]]:
    """Contestant, layout, and (ranks, best time): one curve for the split layout, and one for those
    of one site."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for run in results.runs:
        if (run.program, run.variant) != (program, variant):
            continue
        layout = SPLIT if run.layout == SPLIT else ONE
        times = found.setdefault((run.contestant, layout), {})
        times[run.ranks] = min(run.seconds, times.get(run.ranks, run.seconds))
    return [(key, layout, sorted(times.items())) for (key, layout), times in found.items()]


def _over_delay(results: AppResults, name: str, folder: Path, delays: Sequence[str]) -> list[Path]:
    """For each contestant a curve for each program: its time over that with the least delay."""
    made: list[Path] = []
    by_time = sorted(delays, key=_milliseconds)
    for key in results.measured():
        for n in results.numbers():
            title = f"{results.labels[key]}, split, {n} ranks on {name}"
            least = by_time[0].removeprefix(DELAY)
            chart = Chart(title, f"time over that with {least}", log=True)
            for program in results.programs():
                points = _slowed(results, key, program, n, by_time)
                if len(points) > 1:
                    chart.curve(points, program, marker="o", markersize=4)
            chart.axes.set_xlabel("delay of the wide area, ms one way")
            made += chart.save(folder / slug(f"{name} {key} {n} delay"))
    return made


def _slowed(
    results: AppResults, key: str, program: str, n: int, by_time: Sequence[str]
) -> list[tuple[float, float]]:
    times = where_measured(
        by_time, lambda variant: results.best(key, Cell(program, n, SPLIT, variant))
    )
    first = next(iter(times.values()), 1.0)
    return [(_milliseconds(variant), time / first) for variant, time in times.items()]


def _milliseconds(variant: str) -> float:
    return 1e3 * parse_time(variant.removeprefix(DELAY))
