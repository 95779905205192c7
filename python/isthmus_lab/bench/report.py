"""The output of a benchmark."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from isthmus.measuring.tasks import KIB, LARGEST, LATENCY_BYTES, MIB, ONE_WAY
from isthmus_lab.bench.verdicts import Verdict
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import NotMeasuredError, Samples

_SHOWN = (64 * KIB, MIB, LARGEST)


def size_text(size: int) -> str:
    for unit, step in (("MiB", MIB), ("KiB", KIB)):
        if size >= step and size % step == 0:
            return f"{size // step} {unit}"
    return f"{size} B"


def or_dash(figure: Callable[[], str]) -> str:
    try:
        return figure()
    except NotMeasuredError:
        return "-"


def p2p_table(results: Results, name: str, out: Console) -> None:
    """A row for each contestant, a column for each figure that was measured."""
    variants = sorted({run.variant for run in results.runs})
    for variant in variants:
        title = f"Point to point on {name}" + (f", {variant}" if variant else "")
        found = results.of_variant(variant)
        rows = [[results.labels[key], *_row(found, key)] for key in results.measured()]
        table = Table(title=title, title_justify="left")
        shown = [i for i in range(len(_COLUMNS)) if any(row[i] != "-" for row in rows)]
        for i in shown:
            table.add_column(_COLUMNS[i], justify="right" if i else "left")
        for row in rows:
            table.add_row(*(row[i] for i in shown))
        out.print(table)
    out.print("Best of all samples (for latencies the minimum), medians in brackets.")


_COLUMNS = (
    "",
    "8 B one way, us",
    "8 B each way, us",
    *(f"{size_text(size)}, Mbit/s" for size in _SHOWN),
    "one way, Mbit/s",
    "both ways, Mbit/s",
    "8 B messages/s",
    "8 B beside a stream, us",
)


def _row(results: Results, key: str) -> list[str]:
    def latency() -> str:
        least = 1e6 * results.one_way(key, LATENCY_BYTES)
        return f"{least:.1f} ({1e6 * results.median_one_way(key, LATENCY_BYTES):.1f})"

    def bandwidth(size: int) -> str:
        most = results.bandwidth(key, size)
        return f"{8e-6 * most:.1f} ({8e-6 * results.median_bandwidth(key, size):.1f})"

    def flow(figure: str) -> str:
        rates = sorted(results.byte_rates(key, figure))
        return f"{8e-6 * rates[-1]:.1f} ({8e-6 * rates[len(rates) // 2]:.1f})"

    def rate() -> str:
        return f"{max(results.message_rates(key, 'rate')):.0f}"

    def ways() -> str:
        return ", ".join(f"{1e6 * results.way(key, one, LATENCY_BYTES):.1f}" for one in ONE_WAY)

    cells = [or_dash(latency), or_dash(ways)]
    cells += [or_dash(lambda size=size: bandwidth(size)) for size in _SHOWN]  # type: ignore[misc]
    cells += [or_dash(lambda: flow("stream")), or_dash(lambda: flow("bidirectional"))]
    cells += [or_dash(rate), or_dash(lambda: f"{5e5 * results.loaded(key):.1f}")]
    return cells


def verdict_table(verdicts: Sequence[Verdict], out: Console) -> None:
    if not verdicts:
        return
    table = Table(title="Limits", title_justify="left")
    for column in ("figure", "measured", "wanted", "", ""):
        table.add_column(column, justify="right" if column in ("measured", "wanted") else "left")
    for verdict in verdicts:
        limit = verdict.limit
        unit = f" {limit.unit}" if limit.unit else ""
        value = "-" if verdict.value is None else f"{verdict.value:.3f}{unit}"
        wanted = f"{limit.sense} {limit.value:g}{unit}"
        style = "" if verdict.well else "bold red"
        table.add_row(limit.name, value, wanted, verdict.word, verdict.note, style=style)
    out.print(table)


def machines(results: Samples[Any], out: Console) -> None:
    for variant, machine in results.machines.items():
        where = f"{variant}: " if variant else ""
        style = "bold red" if machine.busy else ""
        out.print(f"{where}{machine.sentence}", style=style, markup=False, highlight=False)


def failures(results: Samples[Any], out: Console) -> None:
    for text in results.failures:
        out.print(f"not measured: {text}", style="yellow", markup=False, highlight=False)
