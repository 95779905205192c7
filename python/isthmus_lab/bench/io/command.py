"""The command `isthmus bench io`."""

import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from isthmus.base.errors import UsageError
from isthmus.base.units import parse_size
from isthmus_lab.bench import common, labs, report, session
from isthmus_lab.bench.io import limits
from isthmus_lab.bench.io.results import IoResults
from isthmus_lab.bench.io.roster import contestants
from isthmus_lab.bench.io.tasks import FIGURES, LARGE, MIB, OPERATIONS, IoTask, tasks
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.session import Entry
from isthmus_lab.bench.timed import TimedRun
from isthmus_lab.bench.verdicts import judge
from isthmus_lab.measuring.place import Place


@dataclass(frozen=True)
class Options:
    """Options of the command line."""

    sizes: tuple[int, ...]
    files: str
    rounds: int
    passes: int
    mpis: tuple[str, ...]
    only: tuple[str, ...]
    figures: tuple[str, ...]


def io(
    context: typer.Context,
    testbed: common.TestbedOption = None,
    grid: common.GridOption = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="Bytes that each rank reads or writes. Default: '64 MiB'. May be repeated.",
        ),
    ] = None,
    folder: Annotated[
        str,
        typer.Option(metavar="DIR", help="Folder of the file, on the hosts of the first cluster."),
    ] = "/tmp",
    rounds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Accesses of each kind in each pass.")
    ] = 3,
    passes: common.PassesOption = 3,
    native: common.NativeOption = None,
    only: common.OnlyOption = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Measure only this figure, beside messages: {', '.join(FIGURES)}. May be "
            "repeated.",
        ),
    ] = None,
    json_file: common.JsonOption = None,
    html_file: common.HtmlOption = None,
    inside: common.InsideOption = None,
) -> None:
    """Measure file accesses of a cluster that does not have the file, compared with messages.

    The accesses are collective, sequential and random. Inside the home cluster they are compared
    with the native library.

    [bold]isthmus bench io --testbed hablot --size '64 MiB' --size '1 GiB'[/bold]
      The figures that Isthmus must reach there; the exit status is 1 if one falls short.

    [bold]isthmus bench io --testbed loopback --only '*inside*' --folder /dev/shm[/bold]
      Between two ranks of the home cluster, compared with the native library.

    Without --testbed and -g, it measures between the two sites of the lab around it, or else on
    this host."""
    signal.signal(signal.SIGTERM, common.leave)
    sizes = tuple(dict.fromkeys(_size(text) for text in size or ())) or (LARGE,)
    options = Options(
        sizes, folder, rounds, passes, tuple(native or ()), tuple(only or ()), tuple(figure or ())
    )
    for name in options.figures:
        if name not in FIGURES:
            raise UsageError(f"--figure {name}: figures are {', '.join(FIGURES)}")
    if not folder.startswith("/"):
        raise UsageError(f"--folder {folder}: not an absolute path")
    out = Output(json_file, html_file)
    name, results = labs.measure(
        testbed,
        grid,
        inside,
        lambda place: _measure(place, options),
        lambda lab: labs.in_one_lab(lab, context, IoResults()),
    )
    _table(results, name, out.sheet)
    verdicts = judge(limits.of_testbed(name, options.figures), results)
    raise typer.Exit(out.finish(name, results, verdicts))


def _size(text: str) -> int:
    try:
        found = parse_size(text)
    except ValueError as error:
        raise UsageError(f"--size {text}: {error}") from None
    if found % MIB or not MIB <= found <= 1024 * MIB:
        raise UsageError(f"--size {text}: must be whole MiB, up to 1 GiB")
    return found


def _measure(place: Place, options: Options) -> IoResults:
    results = IoResults()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        found = contestants(place, options.mpis, options.only, options.files, Path(folder))
        if not found:
            raise UsageError(f"--only {' '.join(options.only)}: none of these can run here")
        entries: list[Entry[IoTask, TimedRun]] = [
            Entry(
                one,
                [tasks(options.rounds, options.sizes, inside=one.inside, figures=options.figures)]
                * options.passes,
            )
            for one in found
        ]
        session.measure(place, entries, results, common.say)
    return results


def _table(results: IoResults, name: str, out: Console) -> None:
    table = Table(title=f"Files on {name}, ms", title_justify="left")
    keys = results.measured()
    table.add_column("")
    for key in keys:
        table.add_column(results.labels[key], justify="right")
    for operation in OPERATIONS:
        sizes = sorted({size for key in keys for size in results.sizes(key, operation)})
        for size in sizes:
            cells = []
            for key in keys:
                if size not in results.sizes(key, operation):
                    cells.append("-")
                    continue
                found = results.least(key, operation, size), results.median(key, operation, size)
                cells.append(f"{1e3 * found[0]:.1f} ({1e3 * found[1]:.1f})")
            table.add_row(f"{operation}, {report.size_text(size)}", *cells)
    out.print(table)
    out.print("Minimum of all samples, medians in brackets; each until it is done in the file.")
