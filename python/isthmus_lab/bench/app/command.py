"""The command `isthmus bench app`."""

import json
import signal
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base.errors import RunError, UsageError, did_you_mean, listing
from isthmus.base.units import parse_time
from isthmus_lab.bench import common, labs
from isthmus_lab.bench.app import figures, limits, play, programs, roster
from isthmus_lab.bench.app.layouts import LAYOUTS
from isthmus_lab.bench.app.options import Options
from isthmus_lab.bench.app.report import app_tables
from isthmus_lab.bench.app.results import AppResults
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.traffic import traffic as draw_traffic
from isthmus_lab.bench.verdicts import judge
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.measuring.place import LOOPBACK, Place, inside_lab


def app(
    context: typer.Context,
    testbed: common.TestbedOption = None,
    grid: common.GridOption = None,
    n: Annotated[
        str | None,
        typer.Option(
            "-n",
            metavar="N,N,...",
            help="Ranks of the split layout. Default: as many as the clusters hold.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Measure only for the limits, in less than ten minutes."),
    ] = False,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Run only these kernels, such as ep, '?g'. May be repeated."
        ),
    ] = None,
    klass: Annotated[
        str | None,
        typer.Option("--class", metavar="CLASS", help="The class of the kernels: S, W, A or B."),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[MPI=]COMMAND",
            help="Run this program instead of the kernels: for one MPI (openmpi, mpich5.0, a "
            "prefix, a cluster) or for all. {name}, {n} and {class} are replaced. May be "
            "repeated.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="The text for {name}. May be repeated."),
    ] = None,
    time_: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="REGEX",
            help="The seconds of --program: the first group of this in its output. Default: the "
            "time of the whole command.",
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX", help="With --program: ignore executions without this in their output."
        ),
    ] = None,
    layout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYOUT", help=f"Use only this layout: {listing(LAYOUTS)}. May be repeated."
        ),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(
            metavar="CLUSTER",
            help="The cluster of the one-site layouts. Default: the first that holds all ranks.",
        ),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            metavar="MS,MS,...ms",
            help="With --testbed: repeat for each of these delays of its WAN, such as 0,1,5,10ms.",
        ),
    ] = None,
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=1, metavar="N", help="Executions of each program.")
    ] = 5,
    limit: Annotated[
        float,
        typer.Option("--timeout", min=1, metavar="SECONDS", help="Limit for one execution."),
    ] = 600.0,
    native: common.NativeOption = None,
    only: common.OnlyOption = None,
    tune: common.TuneOption = True,
    traffic: common.TrafficOption = False,
    json_file: common.JsonOption = None,
    figures_folder: common.FiguresOption = None,
    html_file: common.HtmlOption = None,
    inside: common.InsideOption = None,
) -> None:
    """Measure whole programs, split over the wide area and on one site.

    On one site they run with all, half and a quarter of the ranks. The default programs are
    kernels of the NAS Parallel Benchmarks.

    [bold]isthmus bench app --testbed hablot16 --quick[/bold]
      The figures that Isthmus must reach there; the exit status is 1 if one falls short.

    [bold]isthmus bench app --testbed hablot16 --class W --delay 0,5,20ms --only isthmus[/bold]
      How much each kernel suffers from the delay of the wide area.

    [bold]isthmus bench app -g grid.toml -n 16,32 --program './app {n}' --time 'took (.+) s'[/bold]
      A program of your own.

    Without --testbed and -g, it measures over all sites of the lab around it, or else on this
    host."""
    signal.signal(signal.SIGTERM, common.leave)
    options = Options(
        quick=quick,
        kernels=tuple(kernel or ()),
        klass=programs.check_class(klass or ""),
        programs=tuple(program or ()),
        names=tuple(name or ()),
        time=time_,
        require=require,
        ranks=common.numbers(n),
        layouts=_layouts(layout or []),
        site=site,
        repetitions=repetitions,
        limit=limit,
        mpis=tuple(native or ()),
        only=tuple(only or ()),
        tune=tune,
        traffic=traffic,
    )
    programs.chosen(options)  # complains before labs are built
    if inside is not None:
        inside.write_text(json.dumps(_measure(inside_lab(), options).as_json()))
        return
    common.check(testbed, grid)
    delays = _delays(delay)
    if delays and not common.in_labs(testbed):
        raise UsageError("--delay needs --testbed")
    out = Output(json_file, html_file, figures_folder)
    if testbed is not None and common.in_labs(testbed):
        place_name, results = _in_labs(testbed, context, delays)
        _, model = testbeds.load(testbed)
        here = not all(site.cores for site in model.site.values())
    else:
        place = common.place(testbed, grid)
        place_name, results = place.name, _measure(place, options)
        here = place.lab is not None or place.name == LOOPBACK
    app_tables(results, place_name, here, out.sheet)
    wanted = [] if delays or options.narrowed else limits.of_testbed(place_name)
    verdicts = judge(wanted if quick else [], results)

    def draw(folder: Path) -> list[Path]:
        return figures.app(results, place_name, folder) + draw_traffic(results, place_name, folder)

    raise typer.Exit(out.finish(place_name, results, verdicts, draw))


def _layouts(names: list[str]) -> tuple[str, ...]:
    for name in names:
        if name not in LAYOUTS:
            near = did_you_mean(name, LAYOUTS)
            raise UsageError(
                f"--layout {name}: unknown layout{near}; layouts are {listing(LAYOUTS)}"
            )
    return tuple(one for one in LAYOUTS if one in names)


def _delays(text: str | None) -> list[str]:
    """Reads "0,1,5ms" as "0 ms", "1 ms", "5 ms"."""
    if text is None:
        return []
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = text[len(number) :].strip()
    made = [f"{word.strip()} {unit}" for word in number.split(",")]
    for delay in made:
        try:
            parse_time(delay)
        except ValueError:
            raise UsageError(
                f"--delay {text}: not a list of numbers with one unit of time",
                "Write it as '0,1,5ms', with the unit after the last number.",
            ) from None
    return made


def _measure(place: Place, options: Options) -> AppResults:
    deadline = time.monotonic() + play.QUICK_LIMIT if options.quick else None
    results = AppResults()
    made = play.setups(place.grid, options)
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        found = roster.contestants(place, options, Path(folder), common.say)
        schedule = play.turns(programs.chosen(options), made, found, options)
        play.play(schedule, options, results, common.say, deadline, place)
    return results


def _in_labs(testbed: str, context: typer.Context, delays: list[str]) -> tuple[str, AppResults]:
    name, _ = testbeds.load(testbed)
    results = AppResults()
    for delay in delays or [""]:
        lab = ["--set", f"wan.delay={delay}"] if delay else []
        common.say(f"testbed {name}{f', delay {delay}' if delay else ''}")
        try:
            data = labs.measure_inside(testbed, lab, labs.words_inside(context, "delay"))
        except RunError as error:  # the other delays stand
            results.failures.append(str(error))
            results.failed.append(f"delay {delay}" if delay else name)
            continue
        results.merge(data, f"delay {delay}" if delay else "")
    return name, results
