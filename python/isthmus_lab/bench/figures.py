"""Figures like those of Hablot et al. (2 to 4): bandwidth over message size, and latency."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isthmus.measuring.tasks import ONE_WAY
from isthmus_lab.bench.chart import Chart, folder_for, pyplot, save
from isthmus_lab.bench.report import size_text
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import where_measured

FEW = 4  # sizes that all have a mark on the axis
_TICKS = 4  # powers of two between marks of the size axis
FLOWS = {"stream": "one way", "bidirectional": "both ways"}


def p2p(results: Results, name: str, folder: Path) -> list[Path]:
    """Draws the measurements of each variant; returns the paths, each as PNG and SVG."""
    folder_for(folder)
    made: list[Path] = []
    for variant in dict.fromkeys(run.variant for run in results.runs):
        where = f"{name}-{variant.replace(' ', '-')}" if variant else name
        made += _of_variant(results.of_variant(variant) if variant else results, where, folder)
    flows = [key for key in results.measured() if _flow_rates(results, key)]
    if flows:
        made += _bars(results, flows, name, folder / f"{name}-flows")
    return made


def _of_variant(results: Results, name: str, folder: Path) -> list[Path]:
    curved = [key for key in results.measured() if len(results.sizes(key)) > 1]
    natives = [key for key in curved if key.startswith("native-")]
    others = [key for key in curved if key not in natives]
    tuned = [key for key in natives if not key.endswith(("-default", "-threads"))]
    plain = [key for key in natives if key not in tuned]
    made: list[Path] = []
    for file, title, keys in (
        ("bandwidth-default", "default settings", [*others, *plain]),
        ("bandwidth-tuned", "native MPIs tuned", [*others, *tuned]),
    ):
        if keys and (tuned or file == "bandwidth-default"):
            what = f"Pingpong on {name}: {title}"
            made += _curves(results, keys, what, folder / f"{name}-{file}")
    if others:
        made += _latencies(results, [*others, *natives], name, folder / f"{name}-latency")
    ways = [(key, way) for key in results.measured() for way in ONE_WAY if results.sizes(key, way)]
    if ways:
        made += _ways(results, ways, name, folder / f"{name}-ways")
    for figure, what in FLOWS.items():
        curves = {
            results.labels[key]: {s: max(r) for s, r in results.rates_by_size(key, figure).items()}
            for key in results.measured()
        }
        made += rates(curves, f"Bandwidth {what} on {name}", folder / f"{name}-{figure}")
    return made


def rates(curves: Mapping[str, Mapping[int, float]], title: str, path: Path) -> list[Path]:
    """Bytes per second over the size, by label; nothing for a single size."""
    drawn = [
        (label, {"marker": "o"}, {size: 8e-6 * rate for size, rate in points.items()})
        for label, points in curves.items()
        if len(points) > 1
    ]
    return _over_size(drawn, title, "bandwidth, Mbit/s (best round)", path) if drawn else []


def times(
    curves: Mapping[str, Mapping[int, float]],
    title: str,
    path: Path,
    what: str = "half a round trip",
) -> list[Path]:
    """Seconds over the size, by label."""
    sums = {"color": "black", "linestyle": ":"}
    drawn = [
        (label, sums if label.startswith("sum") else {"marker": "o"},
         {size: 1e6 * time for size, time in points.items()})
        for label, points in curves.items()
    ]  # fmt: skip
    return _over_size(drawn, title, f"{what}, us (minimum)", path, log=True)


def _over_size(
    curves: Iterable[tuple[str, dict[str, Any], Mapping[int, float]]],
    title: str,
    vertical: str,
    path: Path,
    *,
    log: bool = False,
) -> list[Path]:
    """Each curve has a label, a style and its points."""
    chart = Chart(title, vertical, log=log)
    every: set[int] = set()
    for label, style, points in curves:
        chart.curve(points.items(), label, **style)
        every |= points.keys()
    sizes = sorted(every)
    marks = [1 << k for k in range(0, 31, _TICKS) if sizes[0] <= 1 << k <= sizes[-1]]
    marks = sizes if len(sizes) <= FEW or not marks else marks
    chart.axes.set_xscale("log", base=2)
    chart.over("message size", marks, map(size_text, marks))
    return chart.save(path)


def _style(key: str) -> dict[str, Any]:
    if key.startswith("isthmus"):
        return {"linewidth": 2.4, "marker": "o", "markersize": 4}
    if key.startswith("tcp"):
        return {"linewidth": 1.6, "color": "black", "linestyle": "--" if key == "tcp" else ":"}
    return {"linewidth": 1.1, "marker": ".", "markersize": 4}


def _curves(results: Results, keys: Sequence[str], title: str, path: Path) -> list[Path]:
    curves = [
        (results.labels[key], _style(key),
         {size: 8e-6 * results.bandwidth(key, size) for size in results.sizes(key)})
        for key in keys
    ]  # fmt: skip
    return _over_size(curves, title, "bandwidth, Mbit/s (best of all round trips)", path)


def _latencies(results: Results, keys: Sequence[str], name: str, path: Path) -> list[Path]:
    curves = [
        (results.labels[key], _style(key),
         {size: 1e3 * results.one_way(key, size) for size in results.sizes(key)})
        for key in keys
    ]  # fmt: skip
    what = "half a round trip, ms (minimum)"
    return _over_size(curves, f"Pingpong on {name}", what, path, log=True)


def _flow_rates(results: Results, key: str) -> dict[tuple[str, str], float]:
    flows = [
        (run.task.figure, run.variant)
        for run in results.runs
        if run.contestant == key and run.task.figure in FLOWS
    ]
    return where_measured(flows, lambda at: 8e-6 * results.rate(key, *at))


def _ways(results: Results, curves: Sequence[tuple[str, str]], name: str, path: Path) -> list[Path]:
    """Each direction of round trips by itself, as in MPICH/MadIII's Figure 6."""
    drawn = [
        (f"{results.labels[key]}, {way}",
         {**_style(key), "linestyle": "-" if way == ONE_WAY[0] else "--"},
         {size: 1e6 * results.way(key, way, size) for size in results.sizes(key, way)})
        for key, way in curves
    ]  # fmt: skip
    title = f"Each way of round trips on {name}"
    return _over_size(drawn, title, "one way, us (minimum)", path, log=True)


def _bars(results: Results, keys: Sequence[str], name: str, path: Path) -> list[Path]:
    plot = pyplot()
    bars = [(key, at, rate) for key in keys for at, rate in _flow_rates(results, key).items()]
    figure, axes = plot.subplots(figsize=(8, 0.4 + 0.32 * len(bars)))
    labels = [
        ", ".join(filter(None, (results.labels[key], FLOWS[figure_], variant)))
        for key, (figure_, variant), _ in bars
    ]
    colours = ["tab:blue" if key.startswith("isthmus") else "silver" for key, _, _ in bars]
    axes.barh(range(len(bars)), [rate for _, _, rate in bars], color=colours)
    axes.set_yticks(range(len(bars)), labels, fontsize="small")
    axes.invert_yaxis()
    axes.set_xlabel("Mbit/s (best round)")
    axes.set_title(f"Bandwidth on {name}")
    axes.grid(visible=True, axis="x", alpha=0.3)
    return save(plot, figure, path)
