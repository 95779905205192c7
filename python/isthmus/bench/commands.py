"""The commands `isthmus bench ...`."""

import json
import signal
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from isthmus.bench import common, figures, labs, limits, p2p, report, session
from isthmus.bench.app.command import app
from isthmus.bench.coll.command import coll
from isthmus.bench.common import (
    FiguresOption,
    InsideOption,
    JsonOption,
    MpiOption,
    PassesOption,
    TestbedOption,
)
from isthmus.bench.rma.command import rma
from isthmus.bench.verdicts import judge
from isthmus.errors import UsageError
from isthmus.lab import testbed as testbeds
from isthmus.measuring.place import Place, inside_lab
from isthmus.measuring.results import Results

bench_app = typer.Typer(
    name="bench",
    help="Measure Isthmus side by side with plain TCP and native MPIs on the same wires.",
    rich_markup_mode="rich",
)
bench_app.command("coll")(coll)
bench_app.command("app")(app)
bench_app.command("rma")(rma)


@bench_app.callback()
def bench() -> None:
    pass


@bench_app.command("p2p")
def p2p_(
    testbed: TestbedOption = None,
    grid: Annotated[
        Path | None,
        typer.Option("-g", "--grid", metavar="FILE", help="Measure between clusters of a grid."),
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="With -g: these clusters, not the first two."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Only what the limits need, in less than five minutes a testbed."
        ),
    ] = False,
    rounds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Round trips of each size, in all passes.")
    ] = 200,
    passes: PassesOption = 5,
    mpi: MpiOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only these contestants, such as tcp, isthmus, 'native-*'; may be repeated.",
        ),
    ] = None,
    json_file: JsonOption = None,
    figures_folder: FiguresOption = None,
    inside: InsideOption = None,
) -> None:
    """Pingpong of 1 B to 64 MiB, bandwidth one way and both ways, message rate, and small round
    trips beside a stream.

    [bold]isthmus bench p2p --testbed hablot --quick[/bold]
      The figures that Isthmus has to reach there; the exit status is 1 when one falls short.

    Without --testbed and -g: inside a lab its two sites, elsewhere this host."""
    signal.signal(signal.SIGTERM, common.leave)
    options = p2p.Options(quick, rounds, passes, tuple(mpi or ()), tuple(only or ()))
    if inside is not None:
        inside.write_text(json.dumps(_measure(inside_lab(), options).as_json()))
        return
    common.check(testbed, grid)
    if between is not None and grid is None:
        raise UsageError("--between is for -g")
    if figures_folder is not None:
        figures.check()
    begin = time.monotonic()
    if testbed is not None and common.in_labs(testbed):
        name, results = _in_labs(testbed, options)
    else:
        place = common.place(testbed, grid, between)
        name, results = place.name, _measure(place, options)
    out = report.console()
    report.p2p_table(results, name, out)
    verdicts = judge(limits.of_testbed(name), results)
    status = common.finish(name, results, verdicts, json_file, out, time.monotonic() - begin)
    if figures_folder is not None:
        for path in figures.p2p(results, name, figures_folder):
            out.print(f"drawn: {path}")
    raise typer.Exit(status)


def _measure(place: Place, options: p2p.Options) -> Results:
    deadline = time.monotonic() + p2p.QUICK_LIMIT if options.quick else None
    results = Results()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        entries = p2p.entries(place, options, Path(folder), common.say)
        session.measure(place, entries, results, common.say, deadline)
    return results


def _in_labs(testbed: str, options: p2p.Options) -> tuple[str, Results]:
    name, _ = testbeds.load(testbed)
    words = ["p2p", "--rounds", str(options.rounds), "--passes", str(options.passes)]
    words += ["--quick"] if options.quick else []
    words += common.again([("--mpi", options.mpis), ("--only", options.only)])
    results = Results()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        for variant, lab in p2p.variants(testbed):
            raw = Path(folder) / "raw.json"
            results.merge(labs.measure_inside(testbed, lab, words, raw), variant)
    return name, results
