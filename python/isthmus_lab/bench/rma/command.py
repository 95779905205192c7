"""The command `isthmus bench rma`."""

import signal
import tempfile
from dataclasses import dataclass
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
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.measuring.place import Place
from isthmus_lab.measuring.samples import NotMeasuredError


@dataclass(frozen=True)
class Options:
    """Options of the command line."""

    rounds: int
    passes: int
    mpis: tuple[str, ...]
    only: tuple[str, ...]


def rma(
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
    options = Options(rounds, passes, tuple(native or ()), tuple(only or ()))
    out = Output(json_file, html_file)
    name, results = labs.measure(
        testbed,
        grid,
        inside,
        lambda place: _measure(place, options),
        lambda lab: _in_labs(lab, options),
    )
    _table(results, name, out.sheet)
    verdicts = judge(limits.of_testbed(name), results)
    raise typer.Exit(out.finish(name, results, verdicts))


def _measure(place: Place, options: Options) -> RmaResults:
    results = RmaResults()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        found = contestants(place, options.mpis, options.only, Path(folder), common.say)
        if not found:
            raise UsageError(f"--only {' '.join(options.only)}: none of these can run here")
        entries: list[Entry[RmaTask, RmaRun]] = [
            Entry(one, [tasks(options.rounds, inside=one.inside)] * options.passes) for one in found
        ]
        session.measure(place, entries, results, common.say)
    return results


def _in_labs(testbed: str, options: Options) -> tuple[str, RmaResults]:
    name, _ = testbeds.load(testbed)
    words = ["rma", "--rounds", str(options.rounds), "--passes", str(options.passes)]
    words += common.again([("--native", options.mpis), ("--only", options.only)])
    results = RmaResults()
    results.merge(labs.measure_inside(testbed, ["--nodes", "1"], words))
    return name, results


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
