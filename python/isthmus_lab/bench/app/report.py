"""The tables of `isthmus bench app`."""

import os

from rich.console import Console
from rich.table import Table

from isthmus_lab.bench.app.layouts import LAYOUTS, SPLIT
from isthmus_lab.bench.app.results import AppResults
from isthmus_lab.bench.report import or_dash


def app_tables(results: AppResults, name: str, here: bool, out: Console) -> None:
    """For each variant the times, and the speed of the split layout over the others. `here`: all
    clusters are on this machine."""
    for variant in results.variants():
        where = f" on {name}" + (f", {variant}" if variant else "")
        _times(results, variant, f"Programs{where}, s", out)
        _gains(results, variant, f"Speed of the split layout{where} over those of one site", out)
    out.print("Best of all executions, medians in brackets.")
    most = max((run.ranks for run in results.runs), default=0)
    cores = os.cpu_count() or 1
    if here and most > cores:
        out.print(
            f"Up to {most} ranks share the {cores} cores of this machine: more ranks communicate "
            "more, but compute no faster."
        )


def _table(title: str, first: str, results: AppResults, keys: list[str]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for key in keys:
        table.add_column(results.labels[key], justify="right")
    return table


def _keys(results: AppResults, variant: str) -> list[str]:
    seen = {run.contestant for run in results.runs if run.variant == variant}
    return [key for key in results.labels if key in seen]


def _times(results: AppResults, variant: str, title: str, out: Console) -> None:
    keys = _keys(results, variant)
    table = _table(title, "", results, keys)
    for cell in results.cells(variant):

        def one(key: str, cell=cell) -> str:  # type: ignore[no-untyped-def]
            return f"{results.best(key, cell):.4g} ({results.median(key, cell):.4g})"

        label = f"{cell.program}, {cell.layout} of {cell.n}"
        table.add_row(label, *(or_dash(lambda key=key: one(key)) for key in keys))  # type: ignore[misc]
    out.print(table)


def _gains(results: AppResults, variant: str, title: str, out: Console) -> None:
    keys = _keys(results, variant)
    table = _table(title, "speed over", results, keys)
    for program in results.programs():
        for n in results.numbers():
            for layout in LAYOUTS:
                if layout == SPLIT:
                    continue

                def one(key: str, layout: str = layout, n: int = n, program: str = program) -> str:
                    return f"{results.gain(key, program, n, layout, variant):.3f}"

                row = [or_dash(lambda key=key: one(key)) for key in keys]  # type: ignore[misc]
                if any(cell != "-" for cell in row):
                    table.add_row(f"{program}, {layout} of {n}", *row)
    if table.row_count:
        out.print(table)
