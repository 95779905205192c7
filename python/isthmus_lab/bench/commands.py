"""The commands `isthmus bench ...`."""

import json
import signal
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base.commandline import Application
from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.base.options import grid_option
from isthmus.base.units import parse_size
from isthmus.measuring.tasks import FIGURES, LARGEST
from isthmus_lab.bench import common, figures, labs, limits, p2p, report, session
from isthmus_lab.bench.ablation.command import ablation
from isthmus_lab.bench.app.command import app
from isthmus_lab.bench.coll.command import coll
from isthmus_lab.bench.cost.command import cost
from isthmus_lab.bench.io.command import io
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.papers.command import papers
from isthmus_lab.bench.rma.command import rma
from isthmus_lab.bench.sim.command import sim
from isthmus_lab.bench.traffic import traffic as draw_traffic
from isthmus_lab.bench.verdicts import judge
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.measuring.place import Place, check_within, inside_lab
from isthmus_lab.measuring.results import Results

bench_app = Application(
    name="bench",
    help="Compare Isthmus with plain TCP and native MPIs on the same wires.",
)
bench_app.command("coll")(coll)
bench_app.command("ablation")(ablation)
bench_app.command("cost")(cost)
bench_app.command("app")(app)
bench_app.command("rma")(rma)
bench_app.command("io")(io)
bench_app.command("sim")(sim)
bench_app.command("papers")(papers)


@bench_app.callback()
def bench() -> None:
    pass


@bench_app.command("p2p")
def p2p_(
    context: typer.Context,
    testbed: common.TestbedOption = None,
    grid: Annotated[
        Path | None,
        grid_option("Measure between clusters of a grid."),
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Measure between these clusters of -g, or sites of a lab. Default: the first two.",
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="SITE",
            help="In a lab: measure between two nodes of this site, while a rank of another site "
            "stands by.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key of --testbed, as 'isthmus lab run' does. May be repeated.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Measure only for the limits, in less than five minutes a testbed."
        ),
    ] = False,
    rounds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Round trips of each size, over all passes.")
    ] = 200,
    passes: common.PassesOption = 5,
    native: common.NativeOption = None,
    only: common.OnlyOption = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="Measure only round trips of this size, such as '64 KiB'. May be repeated.",
        ),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help=f"Measure only this figure: {listing(FIGURES)}. May be repeated."
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(min=0.1, metavar="S", help="Seconds for each one-way and two-way stream."),
    ] = 3.0,
    stream_size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="Size of the messages of streams. May be repeated. Default: 1 MiB.",
        ),
    ] = None,
    traffic: common.TrafficOption = False,
    json_file: common.JsonOption = None,
    figures_folder: common.FiguresOption = None,
    html_file: common.HtmlOption = None,
    inside: common.InsideOption = None,
) -> None:
    """Measure point-to-point messages between two clusters.

    The figures are the pingpong of 1 B to 64 MiB, bandwidth one way and both ways, the message
    rate, and small round trips beside a stream.

    [bold]isthmus bench p2p --testbed hablot --quick[/bold]
      The figures that Isthmus must reach there; the exit status is 1 if one falls short.

    Without --testbed and -g, it measures between the two sites of the lab around it, or else on
    this host."""
    signal.signal(signal.SIGTERM, common.leave)
    options = p2p.Options(
        quick,
        rounds,
        passes,
        tuple(native or ()),
        tuple(only or ()),
        tuple(dict.fromkeys(_size(text) for text in size or ())),
        _figures(figure or []),
        traffic,
        seconds,
        tuple(dict.fromkeys(_size(text) for text in stream_size or ())),
    )
    if quick and (options.narrowed or within):
        raise UsageError(
            "--quick excludes --size, --stream-size, --figure and --within: it measures only for "
            "the limits",
            "Leave out --quick; --rounds and --passes make a run short.",
        )
    if inside is not None:
        place = inside_lab(within=within, between=between)
        inside.write_text(json.dumps(_measure(place, options).as_json()))
        return
    common.check(testbed, grid)
    if within and not (common.in_labs(testbed) or (common.inside() and not testbed and not grid)):
        raise UsageError("--within needs a lab", "Choose one by --testbed, or run inside one.")
    if set_ and not common.in_labs(testbed):
        raise UsageError("--set needs --testbed")
    if between is not None and grid is None and not common.in_labs(testbed):
        raise UsageError("--between needs -g or --testbed")
    if between and within:
        raise UsageError("--between and --within exclude each other")
    out = Output(json_file, html_file, figures_folder)
    if testbed is not None and common.in_labs(testbed):
        name, results = _in_labs(testbed, context, within, set_ or [])
    else:
        place = inside_lab(within=within) if within else common.place(testbed, grid, between)
        name, results = place.name, _measure(place, options)
    report.p2p_table(results, name, out.sheet)
    wanted = [] if options.narrowed or set_ else limits.of_testbed(name)
    verdicts = judge(wanted, results)

    def draw(folder: Path) -> list[Path]:
        return figures.p2p(results, name, folder) + draw_traffic(results, name, folder)

    raise typer.Exit(out.finish(name, results, verdicts, draw))


def _size(text: str) -> int:
    try:
        found = parse_size(text)
    except ValueError as error:
        raise UsageError(f"--size {text}: {error}") from None
    if not 1 <= found <= LARGEST:
        raise UsageError(f"--size {text}: messages have 1 B to {report.size_text(LARGEST)}")
    return found


def _figures(names: list[str]) -> tuple[str, ...]:
    for name in names:
        if name not in FIGURES:
            near = did_you_mean(name, FIGURES)
            raise UsageError(
                f"--figure {name}: unknown figure{near}; figures are {listing(FIGURES)}"
            )
    return tuple(name for name in FIGURES if name in names)


def _measure(place: Place, options: p2p.Options) -> Results:
    deadline = time.monotonic() + p2p.QUICK_LIMIT if options.quick else None
    results = Results()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        entries = p2p.entries(place, options, Path(folder), common.say)
        session.measure(place, entries, results, common.say, deadline, options.traffic)
    return results


def _in_labs(
    testbed: str, context: typer.Context, within: str | None, changes: list[str]
) -> tuple[str, Results]:
    name, model = testbeds.load(testbed)
    if within:
        check_within(within, name, model.site)
    changed = [word for change in changes for word in ("--set", change)]
    words = labs.words_inside(context)
    results = Results()
    for variant, lab in p2p.variants(testbed, within):
        results.merge(labs.measure_inside(testbed, [*lab, *changed], words), variant)
    return f"{name}-inside-{within}" if within else name, results
