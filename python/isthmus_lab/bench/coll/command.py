"""The command `isthmus bench coll`."""

import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base.errors import IsthmusError, RunError, UsageError
from isthmus.base.units import parse_size
from isthmus_lab.bench import common, labs, session
from isthmus_lab.bench.coll import figures, limits, plan, variants
from isthmus_lab.bench.coll.contestants import measure_wires
from isthmus_lab.bench.coll.options import Options
from isthmus_lab.bench.coll.report import coll_tables
from isthmus_lab.bench.coll.results import CollResults
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.traffic import traffic as draw_traffic
from isthmus_lab.bench.verdicts import judge
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.measuring.place import Place


def coll(
    context: typer.Context,
    testbed: common.TestbedOption = None,
    grid: common.GridOption = None,
    n: Annotated[
        str | None,
        typer.Option("-n", metavar="N,N,...", help="Numbers of ranks, placed as by 'isthmus run'."),
    ] = None,
    equally: Annotated[
        bool, typer.Option("--equally", help="Give each cluster the same number of ranks.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Measure only for the limits, in less than ten minutes."),
    ] = False,
    repetitions: Annotated[
        int,
        typer.Option(
            "--repetitions", min=1, metavar="N", help="Repetitions of each task, over all passes."
        ),
    ] = 10,
    passes: common.PassesOption = 2,
    native: common.NativeOption = None,
    only: common.OnlyOption = None,
    collective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Measure only these, such as bcast, 'all*', ibcast. May be repeated.",
        ),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE", help="Measure only this size, such as '256 KiB'. May be repeated."
        ),
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHOICE",
            help="Also measure Isthmus, direct, with this choice in ISTHMUS_COLL, such as "
            "bcast=farfirst. May be repeated.",
        ),
    ] = None,
    interleaved: Annotated[
        bool,
        typer.Option(
            "--interleaved",
            help="Also measure communicators whose ranks alternate between clusters.",
        ),
    ] = False,
    tune: common.TuneOption = True,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Use only these variants of the testbed, such as plain, '0.05 % loss'. May be "
            "repeated. Default: all, or with --quick those for the limits.",
        ),
    ] = None,
    traffic: common.TrafficOption = False,
    json_file: common.JsonOption = None,
    figures_folder: common.FiguresOption = None,
    html_file: common.HtmlOption = None,
    inside: common.InsideOption = None,
) -> None:
    """Measure collectives over all ranks: times until the last rank is done, over message sizes.

    [bold]isthmus bench coll --testbed matsuda --quick[/bold]
      The figures that Isthmus must reach there; the exit status is 1 if one falls short.

    [bold]isthmus bench coll --testbed matsuda --collective bcast --size '3.2 MB'[/bold]
      Isthmus and all native MPIs, with the limits of the wires.

    Without --testbed and -g, it measures over all sites of the lab around it, or else on this
    host."""
    signal.signal(signal.SIGTERM, common.leave)
    ranks = common.numbers(n)
    options = Options(
        quick,
        repetitions,
        passes,
        ranks[0] if ranks else None,
        tuple(native or ()),
        tuple(only or ()),
        tuple(collective or ()),
        tuple(_size(text) for text in size or ()),
        tuple(algorithm or ()),
        interleaved,
        tune,
        equally,
        tuple(variant or ()),
        traffic=traffic,
    )
    if equally and not ranks:
        raise UsageError("--equally needs -n", "Give the number of ranks: -n 8, or -n 2,4,8.")
    if quick and len(ranks) > 1:
        raise UsageError(f"-n {n}: --quick takes one number of ranks")
    if inside is not None:
        options = replace(options, variant=options.variants[0] if options.variants else "")
    elif variant and not common.in_labs(testbed):
        raise UsageError("--variant needs --testbed")
    out = Output(json_file, html_file, figures_folder)
    name, results = labs.measure(
        testbed,
        grid,
        inside,
        partial(_of_numbers, options=options, ranks=ranks),
        partial(_in_labs, context=context, options=options, ranks=ranks),
    )
    coll_tables(results, name, out.sheet)
    whole = quick or not (options.narrowed or len(ranks) > 1)
    verdicts = judge(limits.of_testbed(name) if whole else [], results)

    def draw(folder: Path) -> list[Path]:
        return figures.coll(results, name, folder) + draw_traffic(results, name, folder)

    raise typer.Exit(out.finish(name, results, verdicts, draw))


def _size(text: str) -> int:
    try:
        found = parse_size(text)
    except ValueError as error:
        raise UsageError(f"--size {text}: {error}") from None
    if found % 8:
        raise UsageError(f"--size {text}: sums are of doubles, so sizes are multiples of 8 bytes")
    return found


def _of_numbers(place: Place, options: Options, ranks: Sequence[int]) -> CollResults:
    """Each number of ranks is a variant, if there are several."""
    if len(ranks) < 2:
        return _measure(place, options)
    results = CollResults()
    for number in ranks:
        found = _measure(place, replace(options, n=number)).as_json()
        results.merge(found, variants.of_ranks("", number))
    return results


def _measure(place: Place, options: Options) -> CollResults:
    deadline = time.monotonic() + plan.QUICK_LIMIT if options.quick else None
    results = CollResults()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        entries = plan.entries(place, options, Path(folder), common.say)
        try:
            results.wires[""] = measure_wires(place)
        except IsthmusError as error:
            common.say(f"no bounds: {error}")
        session.measure(place, entries, results, common.say, deadline, options.traffic)
    return results


def _in_labs(
    testbed: str, context: typer.Context, options: Options, ranks: Sequence[int]
) -> tuple[str, CollResults]:
    name, _ = testbeds.load(testbed)
    words = labs.words_inside(context, "n", "variant")
    results = CollResults()
    for variant, lab in variants.of_testbed(testbed, options.quick, options.variants):
        for number in ranks or (0,):
            told = ["--variant", variant] if variant else []
            told += ["-n", str(number)] if number else []
            called = variants.of_ranks(variant, number) if len(ranks) > 1 else variant
            common.say(f"testbed {name}{f', {called}' if called else ''}")
            try:
                results.merge(labs.measure_inside(testbed, lab, [*words, *told]), called)
            except RunError as error:  # the other variants stand
                results.failures.append(str(error))
                results.failed.append(called or name)
    return name, results
