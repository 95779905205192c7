"""The command `isthmus bench ablation`."""

import json
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from isthmus.base.errors import RunError, UsageError, did_you_mean, listing
from isthmus.base.itself import itself
from isthmus_lab.bench import common
from isthmus_lab.bench.ablation.cells import CELLS, MECHANISMS, Cell
from isthmus_lab.bench.output import Output, write_json

# A figure is (cell, contestant, task).
Figure = tuple[str, str, str]
Times = dict[tuple[str, Figure], list[float]]  # by mechanism ("": none is off), a value each pass


def ablation(
    cell: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure only this cell. May be repeated."),
    ] = None,
    off: Annotated[
        list[str] | None,
        typer.Option(metavar="MECHANISM", help="Disable only this mechanism. May be repeated."),
    ] = None,
    passes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of turns of each mechanism.")
    ] = 5,
    json_file: common.JsonOption = None,
    html_file: common.HtmlOption = None,
) -> None:
    """Measure what each mechanism of streams and of waiting gains.

    Each figure is measured with all mechanisms, and with one of them disabled, in turns. The table
    has the time without the mechanism over the time with it, by medians: above 1, the mechanism
    gains. It lists the figures that a mechanism changes by 5 % or more, if no sample with it lies
    among those without it."""
    cells = _chosen("--cell", cell, {one.name: one for one in CELLS})
    mechanisms = list(_chosen("--off", off, {name: name for name in MECHANISMS}))
    times: Times = defaultdict(list)
    for number in range(passes):
        for one in cells:
            turns = ["", *(name for name in mechanisms if name in one.mechanisms)]
            for mechanism in turns if number % 2 == 0 else reversed(turns):  # the first runs cold
                common.say(f"pass {number + 1} of {passes}: {one.name}: {mechanism or 'all on'}")
                for figure, value in _measure(one, mechanism).items():
                    times[mechanism, figure].append(value)
        if json_file is not None:  # after each pass, for runs that the user ends early
            found = [
                {"off": mechanism, "figure": figure, "seconds": values}
                for (mechanism, figure), values in times.items()
            ]
            write_json(json_file, found)
    out = Output(None, html_file)
    out.sheet.print(_table(times, mechanisms))
    out.write("ablation", {})


def _chosen(option: str, names: list[str] | None, known: dict[str, Any]) -> list[Any]:
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"{option} {name}: unknown{did_you_mean(name, known)}; known are {listing(known)}"
            )
    return [known[name] for name in names or known]


def _measure(cell: Cell, mechanism: str) -> dict[Figure, float]:
    """The seconds of each figure. A benchmark that fails ends the command."""
    with tempfile.TemporaryDirectory(prefix="isthmus-ablation-") as folder:
        raw = Path(folder) / "raw.json"
        command = [*itself(), "bench", *cell.words, "--json", str(raw)]
        environment = os.environ | {"ISTHMUS_DEBUG_OFF": mechanism}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if not raw.exists():
            raise RunError(f"the benchmark '{' '.join(cell.words)}' failed: {done.stderr[-2000:]}")
        runs = json.loads(raw.read_text())["runs"]
    return {(cell.name, run["contestant"], run["task"]): _seconds(run) for run in runs}


def _seconds(run: dict[str, Any]) -> float:
    """For a round trip or a collective, or for each message of a stream."""
    counts = run.get("messages") or [1] * len(run["seconds"])
    each = [float(s) / n for s, n in zip(run["seconds"], counts, strict=True) if n]
    middle: float = statistics.median(each)
    return middle


def ratios(times: Times, mechanism: str) -> dict[Figure, float]:
    """The time without the mechanism over the time with it."""
    return {
        figure: statistics.median(values) / statistics.median(times["", figure])
        for (name, figure), values in times.items()
        if name == mechanism and times.get(("", figure))
    }


def changes(without: list[float], with_it: list[float]) -> bool:
    """Whether the medians differ by 5 % or more, and no sample lies among the others."""
    ratio = statistics.median(without) / statistics.median(with_it)
    apart = min(without) > max(with_it) or max(without) < min(with_it)
    return apart and not 0.95 < ratio < 1.05


def _table(times: Times, mechanisms: list[str]) -> Table:
    table = Table(title="Time without a mechanism over the time with it", title_justify="left")
    for column in ("off", "figures", "least", "median", "most", "changed by 5 % or more"):
        table.add_column(column)
    for mechanism in mechanisms:
        found = ratios(times, mechanism)
        if not found:
            continue
        values = sorted(found.values())
        changed = [
            f"{', '.join(figure)} {value:.2f}"
            for figure, value in found.items()
            if changes(times[mechanism, figure], times["", figure])
        ]
        bounds = [f"{value:.2f}" for value in (values[0], statistics.median(values), values[-1])]
        table.add_row(mechanism, str(len(values)), *bounds, "\n".join(changed))
    return table
