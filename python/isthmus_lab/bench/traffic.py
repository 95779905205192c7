"""Pictures of the traffic over a wide area, like those of Matsuda et al. from GtrcNET: Mbit/s over
milliseconds, with dropped segments."""

from collections.abc import Sequence
from pathlib import Path

from isthmus_lab.bench.chart import folder_for, pyplot, save, slug
from isthmus_lab.measuring.samples import Samples
from isthmus_lab.measuring.traffic import Crossed

_SHOWN = 400  # milliseconds, those with the most traffic
_LEAD = 60  # before them, to show the beginning


def traffic(results: Samples, name: str, folder: Path) -> list[Path]:  # type: ignore[type-arg]
    """For each contestant, the direction with the most traffic in its last pass; the paths, PNG and
    SVG."""
    last: dict[tuple[str, str], list[Crossed]] = {}
    for one in results.traffic:
        found = last.setdefault((one.variant, one.contestant), [])
        if found and found[0].round != one.round:
            found.clear()
        found.append(one)
    shown: dict[str, list[Crossed]] = {}
    for (variant, _), ways in last.items():
        most = max(ways, key=lambda one: one.bytes)
        if most.rows:
            shown.setdefault(variant, []).append(most)
    if not shown:
        return []
    folder_for(folder)
    made: list[Path] = []
    for variant, curves in shown.items():
        where = name + (f", {variant}" if variant else "")
        path = folder / slug(f"{where} traffic")
        made += _draw([(results.labels[one.contestant], one) for one in curves], where, path)
    return made


def _draw(curves: Sequence[tuple[str, Crossed]], where: str, path: Path) -> list[Path]:
    plot = pyplot()
    figure, rows = plot.subplots(
        len(curves), sharey=True, squeeze=False, figsize=(8, 1.2 + 1.7 * len(curves))
    )
    for (label, one), axes in zip(curves, rows[:, 0], strict=True):
        first, last = one.busiest(_SHOWN - _LEAD)
        first -= _LEAD
        rates = dict.fromkeys(range(first, last + 1), 0.0)
        rates |= {at: 8e-3 * sent for at, sent, _ in one.rows if first <= at <= last}
        times = [at - first for at in rates]
        axes.fill_between(times, list(rates.values()), step="post", alpha=0.3)
        axes.step(times, list(rates.values()), where="post", linewidth=0.8)
        lost = [at - first for at, _, dropped in one.rows if dropped and first <= at <= last]
        axes.plot(lost, [0] * len(lost), "x", color="tab:red", label="dropped")
        axes.set_title(f"{label}, {one.way}: {one.dropped} dropped in total", fontsize="small")
        axes.set_ylabel("Mbit/s")
        axes.grid(visible=True, alpha=0.3)
    rows[-1, 0].set_xlabel(f"milliseconds; the {_SHOWN} with the most traffic of each turn")
    figure.suptitle(f"The wide area of {where}", fontsize="medium")
    figure.tight_layout()
    return save(plot, figure, path)
