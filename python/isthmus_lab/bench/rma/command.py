"""The command `isthmus bench rma`."""

import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from isthmus.base.errors import UsageError
from isthmus_lab.bench import common, labs, report, session
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.rma import limits
from isthmus_lab.bench.rma.results import RmaResults, RmaRun
from isthmus_lab.bench.rma.roster import contestants
from isthmus_lab.bench.rma.tasks import LARGE, LARGE_ONES, OPERATIONS, SMALL, RmaTask, tasks
from isthmus_lab.bench.session import Entry
from isthmus_lab.bench.verdicts import judge
from isthmus_lab.measuring.place import Place
from isthmus_lab.measuring.samples import NotMeasuredError


def rma(
    context: typer.Context,
    testbed: common.TestbedOption = None,
    grid: common.GridOption = None,
    rounds: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Small operations of each kind in each pass."),
    ] = 40,
    passes: common.PassesOption = 3,
    native: common.NativeOption = None,
    only: common.OnlyOption = None,
    json_file: common.JsonOption = None,
    html_file: common.HtmlOption = None,
    inside: common.InsideOption = None,
) -> None:
    """Measure windows: put, get, accumulate, fetch and op, locks, and 10,000 small puts, compared
    with messages.

    [bold]isthmus bench rma --testbed hablot[/bold]
      The figures that Isthmus must reach there; the exit status is 1 if one falls short.

    [bold]isthmus bench rma --testbed loopback --only '*inside*'[/bold]
      Between two ranks of one cluster, compared with the native library.

    Without --testbed and -g, it measures between the two sites of the lab around it, or else on
    this host."""
    signal.signal(signal.SIGTERM, common.leave)
    out = Output(json_file, html_file)
    name, results = labs.measure(
        testbed,
        grid,
        inside,
        lambda place: _measure(place, rounds, passes, native or (), only or ()),
        lambda lab: labs.in_one_lab(lab, context, RmaResults()),
    )
    _table(results, name, out.sheet)
    verdicts = judge(limits.of_testbed(name), results)
    raise typer.Exit(out.finish(name, results, verdicts))


def _measure(
    place: Place, rounds: int, passes: int, mpis: Sequence[str], only: Sequence[str]
) -> RmaResults:
    results = RmaResults()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        found = contestants(place, mpis, only, Path(folder), common.say)
        if not found:
            raise UsageError(f"--only {' '.join(only)}: none of these can run here")
        entries: list[Entry[RmaTask, RmaRun]] = [
            Entry(one, [tasks(rounds, inside=one.inside)] * passes) for one in found
        ]
        session.measure(place, entries, results, common.say)
    return results


def _table(results: RmaResults, name: str, out: Console) -> None:
    table = Table(title=f"One-sided communication on {name}", title_justify="left")
    columns = [(operation, SMALL) for operation in OPERATIONS]
    columns += [(operation, LARGE) for operation in LARGE_ONES]
    table.add_column("")
    for operation, size in columns:
        unit = "us" if size == SMALL else "ms"
        table.add_column(f"{operation}, {report.size_text(size)}, {unit}", justify="right")
    for key in results.measured():
        cells = []
        for operation, size in columns:
            scale = 1e6 if size == SMALL else 1e3
            try:
                least = scale * results.least(key, operation, size)
                cells.append(f"{least:.1f} ({scale * results.median(key, operation, size):.1f})")
            except NotMeasuredError:
                cells.append("-")
        table.add_row(results.labels[key], *cells)
    out.print(table)
    out.print("Minimum of all samples, medians in brackets; each until it is done at the target.")
