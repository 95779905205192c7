"""The tables of `isthmus bench coll`."""

from rich.console import Console
from rich.table import Table

from isthmus_lab.bench.coll.results import CollResults
from isthmus_lab.bench.coll.tasks import size_text
from isthmus_lab.bench.report import or_dash


def coll_tables(results: CollResults, name: str, out: Console) -> None:
    """For each variant a row for each collective and size, a column for each contestant."""
    for variant in dict.fromkeys(run.variant for run in results.runs):
        keys = [
            key
            for key in results.labels
            if any(run.contestant == key and run.variant == variant for run in results.runs)
        ]
        title = f"Collectives on {name}" + (f", {variant}" if variant else "") + ", ms"
        table = Table(title=title, title_justify="left")
        table.add_column("")
        table.add_column("bound", justify="right")
        for key in keys:
            table.add_column(results.labels[key], justify="right")
        for cell in results.cells(variant):
            table.add_row(*_row(results, keys, cell, variant))
        out.print(table)
        if variant in results.wires:
            wires = results.wires[variant]
            out.print(
                f"Bounds assume {8e-6 * wires.bandwidth:.1f} Mbit/s of TCP payload on a node's "
                f"link, and {1e3 * wires.delay:.2f} ms one way over the wide area."
            )
        _overlaps(results, keys, name, variant, out)
    out.print(
        "Medians of executions, each until the last rank was done; in brackets until half of the "
        "ranks were done."
    )


def _overlaps(results: CollResults, keys: list[str], name: str, variant: str, out: Console) -> None:
    found = results.overlaps(variant)
    if not found:
        return
    table = Table(title=f"Overlap with computing on {name}", title_justify="left")
    table.add_column("")
    for key in keys:
        table.add_column(results.labels[key], justify="right")
    for collective, size, tests in found:
        title = f"{collective} {size_text(size)}, {tests} MPI_Test"

        def one(
            key: str, collective: str = collective, size: int = size, tests: int = tests
        ) -> str:
            return f"{100 * results.overlap(key, collective, size, tests, variant):.0f} %"

        table.add_row(title, *(or_dash(lambda key=key: one(key)) for key in keys))  # type: ignore[misc]
    out.print(table)


def _row(
    results: CollResults, keys: list[str], cell: tuple[str, int, bool], variant: str
) -> list[str]:
    collective, size, interleaved = cell
    title = collective if collective.endswith("barrier") else f"{collective} {size_text(size)}"
    row = [title + (", interleaved" if interleaved else "")]

    def one(key: str) -> str:
        last = results.time(key, collective, size, interleaved, variant)
        middle = results.middle(key, collective, size, interleaved, variant)
        return f"{_ms(last)} ({_ms(middle)})"

    row.append(or_dash(lambda: _ms(results.bound(collective, size, variant))))
    return row + [or_dash(lambda key=key: one(key)) for key in keys]  # type: ignore[misc]


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.4g}" if seconds < 1 else f"{1e3 * seconds:.0f}"
