"""The commands `isthmus bench ...`."""

import json
import platform
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus.bench import figures, labs, limits, p2p, report, session
from isthmus.bench.place import LOOPBACK, Place, inside_lab, loopback, of_grid
from isthmus.bench.results import Results
from isthmus.errors import UsageError
from isthmus.lab import testbed as testbeds
from isthmus.version import VERSION

bench_app = typer.Typer(
    name="bench",
    help="Measure Isthmus side by side with plain TCP and native MPIs on the same wires.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@bench_app.callback()
def bench() -> None:
    pass


@bench_app.command("p2p")
def p2p_(
    testbed: Annotated[
        str | None,
        typer.Option(
            metavar="TESTBED",
            help="Start this testbed of the lab and measure in it; 'loopback': on this host.",
        ),
    ] = None,
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
    passes: Annotated[
        int, typer.Option(min=1, metavar="N", help="How often the contestants take turns.")
    ] = 5,
    mpi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MPI",
            help="openmpi, mpich, or the prefix of an installation; may be repeated. The first is "
            "also what Isthmus runs over. Without it: all that are found.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only these contestants, such as tcp, isthmus, 'native-*'; may be repeated.",
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write every sample.")
    ] = None,
    figures_folder: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Draw figures there, as PNG and SVG."),
    ] = None,
    inside: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Pingpong of 1 B to 64 MiB, bandwidth one way and both ways, message rate, and small round
    trips beside a stream.

    [bold]isthmus bench p2p --testbed hablot --quick[/bold]
      The figures that Isthmus has to reach there; the exit status is 1 when one falls short.

    Without --testbed and -g: inside a lab its two sites, elsewhere this host."""
    signal.signal(signal.SIGTERM, _leave)
    options = p2p.Options(quick, rounds, passes, tuple(mpi or ()), tuple(only or ()))
    if inside is not None:
        inside.write_text(json.dumps(_measure(inside_lab(), options).as_json()))
        return
    _check(testbed, grid, between)
    if figures_folder is not None:
        figures.check()
    begin = time.monotonic()
    if testbed is not None and testbed != LOOPBACK:
        name, results = _in_labs(testbed, options)
    else:
        place = _place(testbed, grid, between)
        name, results = place.name, _measure(place, options)
    raise typer.Exit(_tell(name, results, json_file, figures_folder, time.monotonic() - begin))


def _leave(number: int, _: object) -> None:
    """Lets everything that was started be ended on the way out."""
    sys.exit(128 + number)


def _check(testbed: str | None, grid: Path | None, between: str | None) -> None:
    if testbed is not None and grid is not None:
        raise UsageError("--testbed and -g exclude each other: a testbed has its own grid file")
    if between is not None and grid is None:
        raise UsageError("--between is for -g")
    if testbed not in (None, LOOPBACK):
        testbeds.load(str(testbed))
        if p2p.inside():
            raise UsageError(
                "--testbed starts a lab, but this is inside one already",
                "Leave it out to measure in this one.",
            )


def _place(testbed: str | None, grid: Path | None, between: str | None) -> Place:
    if grid is not None:
        return of_grid(grid, between)
    return inside_lab() if p2p.inside() and testbed is None else loopback()


def _say(sentence: str) -> None:
    print(f"isthmus bench: {sentence}", file=sys.stderr, flush=True)


def _measure(place: Place, options: p2p.Options) -> Results:
    deadline = time.monotonic() + p2p.QUICK_LIMIT if options.quick else None
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        entries = p2p.entries(place, options, Path(folder), _say)
        return session.measure(place, entries, _say, deadline)


def _in_labs(testbed: str, options: p2p.Options) -> tuple[str, Results]:
    name, _ = testbeds.load(testbed)
    words = ["p2p", "--rounds", str(options.rounds), "--passes", str(options.passes)]
    words += ["--quick"] if options.quick else []
    for flag, values in (("--mpi", options.mpis), ("--only", options.only)):
        for value in values:
            words += [flag, value]
    results = Results()
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        for variant, lab in p2p.variants(testbed):
            raw = Path(folder) / "raw.json"
            results.merge(labs.measure_inside(testbed, lab, words, raw), variant)
    return name, results


def _tell(
    name: str, results: Results, json_file: Path | None, folder: Path | None, took: float
) -> int:
    """Tables, files, and the exit status."""
    verdicts = limits.judge(limits.of_testbed(name), results)
    out = report.console()
    report.p2p_table(results, name, out)
    report.verdict_table(verdicts, out)
    report.failures(results, out)
    out.print(f"It took {took:.0f} s.")
    if json_file is not None:
        _write(json_file, {**_facts(name), **results.as_json(), "limits": _as_json(verdicts)})
    if folder is not None:
        for path in figures.p2p(results, name, folder):
            out.print(f"drawn: {path}")
    return int(not results.runs or not all(verdict.well for verdict in verdicts))


def _facts(name: str) -> dict[str, Any]:
    return {
        "isthmus": VERSION,
        "place": name,
        "host": platform.node(),
        "kernel": platform.release(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _as_json(verdicts: list[limits.Verdict]) -> list[dict[str, Any]]:
    return [
        {
            "figure": verdict.limit.name,
            "sense": verdict.limit.sense,
            "limit": verdict.limit.value,
            "unit": verdict.limit.unit,
            "value": verdict.value,
            "well": verdict.well,
            "note": verdict.note,
        }
        for verdict in verdicts
    ]


def _write(path: Path, data: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"--json {path}: cannot be written: {error.strerror}") from None
