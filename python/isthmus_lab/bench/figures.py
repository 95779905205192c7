"""Figures like those of Hablot et al. (2 to 4): bandwidth over message size, and latency."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isthmus.base.errors import UsageError
from isthmus.measuring.tasks import ONE_WAY
from isthmus_lab.bench.report import size_text
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import NotMeasuredError

FEW = 4  # sizes that all have a mark on the axis
_TICKS = 4  # powers of two between marks of the size axis
FLOWS = {"stream": "one way", "bidirectional": "both ways"}


def check() -> None:
    """UsageError if matplotlib is missing."""
    pyplot()


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def pyplot() -> Any:
    """matplotlib's, without a screen; UsageError if it is missing."""
    try:
        import matplotlib  # noqa: PLC0415  (only used here, and slow to load)

        matplotlib.use("Agg")
        from matplotlib import pyplot as found  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            "--figures needs matplotlib, which is not installed here",
            "Run: pip install matplotlib. Or use --json, which has every sample.",
        ) from None
    return found


def folder_for(folder: Path) -> None:
    """Makes the folder if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--figures {folder}: cannot make the folder: {error.strerror}") from None


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
    curves = {label: points for label, points in curves.items() if len(points) > 1}
    if not curves:
        return []
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(8, 5))
    for label, points in curves.items():
        axes.plot(list(points), [8e-6 * rate for rate in points.values()], "o-", label=label)
    _size_axis(axes, sorted({size for points in curves.values() for size in points}))
    axes.set_ylabel("bandwidth, Mbit/s (best round)")
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.legend(fontsize="small")
    return save(plot, figure, path)


def times(
    curves: Mapping[str, Mapping[int, float]],
    title: str,
    path: Path,
    what: str = "half a round trip",
) -> list[Path]:
    """Seconds over the size, by label."""
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(8, 5))
    for label, points in curves.items():
        style = "k:" if label.startswith("sum") else "o-"
        axes.plot(list(points), [1e6 * t for t in points.values()], style, label=label)
    _size_axis(axes, sorted({size for points in curves.values() for size in points}))
    axes.set_yscale("log")
    axes.set_ylabel(f"{what}, us (minimum)")
    axes.set_title(title)
    axes.legend(fontsize="small")
    return save(plot, figure, path)


def save(plot: Any, figure: Any, path: Path) -> list[Path]:
    """As PNG and SVG; closes the figure."""
    files = [path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg")]
    for file in files:
        figure.savefig(file, dpi=150, bbox_inches="tight")
    plot.close(figure)
    return files


def _style(key: str) -> dict[str, Any]:
    if key.startswith("isthmus"):
        return {"linewidth": 2.4, "marker": "o", "markersize": 4}
    if key.startswith("tcp"):
        return {"linewidth": 1.6, "color": "black", "linestyle": "--" if key == "tcp" else ":"}
    return {"linewidth": 1.1, "marker": ".", "markersize": 4}


def _size_axis(axes: Any, sizes: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    marks = [1 << k for k in range(0, 31, _TICKS) if sizes[0] <= 1 << k <= sizes[-1]]
    marks = list(sizes) if len(sizes) <= FEW or not marks else marks
    axes.set_xticks(marks, [size_text(size) for size in marks])
    axes.set_xlabel("message size")
    axes.grid(visible=True, alpha=0.3)


def _curves(results: Results, keys: Sequence[str], title: str, path: Path) -> list[Path]:
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(8, 5))
    every: set[int] = set()
    for key in keys:
        sizes = results.sizes(key)
        every |= set(sizes)
        rates = [8e-6 * results.bandwidth(key, size) for size in sizes]
        axes.plot(sizes, rates, label=results.labels[key], **_style(key))
    _size_axis(axes, sorted(every))
    axes.set_ylabel("bandwidth, Mbit/s (best of all round trips)")
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.legend(fontsize="small")
    return save(plot, figure, path)


def _latencies(results: Results, keys: Sequence[str], name: str, path: Path) -> list[Path]:
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(8, 5))
    every: set[int] = set()
    for key in keys:
        sizes = results.sizes(key)
        every |= set(sizes)
        times = [1e3 * results.one_way(key, size) for size in sizes]
        axes.plot(sizes, times, label=results.labels[key], **_style(key))
    _size_axis(axes, sorted(every))
    axes.set_yscale("log")
    axes.set_ylabel("half a round trip, ms (minimum)")
    axes.set_title(f"Pingpong on {name}")
    axes.legend(fontsize="small")
    return save(plot, figure, path)


def _flow_rates(results: Results, key: str) -> dict[tuple[str, str], float]:
    found = {}
    for run in results.runs:
        at = (run.task.figure, run.variant)
        if run.contestant == key and run.task.figure in FLOWS:
            try:
                found[at] = 8e-6 * results.rate(key, *at)
            except NotMeasuredError:
                continue
    return found


def _ways(results: Results, curves: Sequence[tuple[str, str]], name: str, path: Path) -> list[Path]:
    """Each direction of round trips by itself, as in MPICH/MadIII's Figure 6."""
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(8, 5))
    every: set[int] = set()
    for key, way in curves:
        sizes = results.sizes(key, way)
        every |= set(sizes)
        times = [1e6 * results.way(key, way, size) for size in sizes]
        style = {**_style(key), "linestyle": "-" if way == ONE_WAY[0] else "--"}
        axes.plot(sizes, times, label=f"{results.labels[key]}, {way}", **style)
    _size_axis(axes, sorted(every))
    axes.set_yscale("log")
    axes.set_ylabel("one way, us (minimum)")
    axes.set_title(f"Each way of round trips on {name}")
    axes.legend(fontsize="small")
    return save(plot, figure, path)


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
