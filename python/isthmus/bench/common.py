"""What the commands of `isthmus bench` have in common: where they measure, and what they leave."""

import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from isthmus.bench import report
from isthmus.bench.verdicts import Verdict
from isthmus.errors import UsageError
from isthmus.lab import testbed as testbeds
from isthmus.measuring.place import LOOPBACK, Place, inside_lab, loopback, of_grid
from isthmus.measuring.samples import Samples
from isthmus.version import VERSION

TestbedOption = Annotated[
    str | None,
    typer.Option(
        "--testbed",
        metavar="TESTBED",
        help="Start this testbed of the lab and measure in it; 'loopback': on this host.",
    ),
]
GridOption = Annotated[
    Path | None,
    typer.Option("-g", "--grid", metavar="FILE", help="Measure over the clusters of a grid."),
]
TuneOption = Annotated[
    bool,
    typer.Option(
        "--tune/--no-tune",
        help="Measure the grid for Isthmus's choice of algorithms first, as 'isthmus tune' does.",
    ),
]
PassesOption = Annotated[
    int,
    typer.Option("--passes", min=1, metavar="N", help="How often the contestants take turns."),
]
MpiOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mpi",
        metavar="MPI",
        help="openmpi, mpich, or the prefix of an installation; may be repeated. The first is "
        "also what Isthmus runs over. Without it: all that are found.",
    ),
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write every sample.")
]
FiguresOption = Annotated[
    Path | None,
    typer.Option("--figures", metavar="DIR", help="Draw figures there, as PNG and SVG."),
]
TrafficOption = Annotated[
    bool,
    typer.Option(
        "--traffic",
        help="In labs: keep, and draw with --figures, what crosses the wide area in each "
        "millisecond.",
    ),
]
InsideOption = Annotated[Path | None, typer.Option("--inside", hidden=True)]


def leave(number: int, _: object) -> None:
    """Lets everything that was started be ended on the way out of a signal."""
    sys.exit(128 + number)


def say(sentence: str) -> None:
    print(f"isthmus bench: {sentence}", file=sys.stderr, flush=True)


def inside() -> bool:
    return "ISTHMUS_LAB" in os.environ


def in_labs(testbed: str | None) -> bool:
    """Whether labs are started for it."""
    return testbed not in (None, LOOPBACK)


def check(testbed: str | None, grid: Path | None) -> None:
    if testbed is not None and grid is not None:
        raise UsageError("--testbed and -g exclude each other: a testbed has its own grid file")
    if in_labs(testbed):
        testbeds.load(str(testbed))
        if inside():
            raise UsageError(
                "--testbed starts a lab, but this is inside one already",
                "Leave it out to measure in this one.",
            )


def place(testbed: str | None, grid: Path | None, between: str | None = None) -> Place:
    if grid is not None:
        return of_grid(grid, between)
    return inside_lab() if inside() and testbed is None else loopback()


def numbers(text: str | None) -> tuple[int, ...]:
    """Of -n: "4,8,16", each once."""
    words = text.split(",") if text else []
    if not all(word.strip().isdigit() and int(word) >= 2 for word in words):
        raise UsageError(f"-n {text}: these are numbers of at least 2, such as 4,8,16")
    return tuple(dict.fromkeys(int(word) for word in words))


def again(words: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Options that may be repeated, for a command line."""
    return [word for flag, values in words for value in values for word in (flag, value)]


def finish(
    name: str,
    results: Samples[Any],
    verdicts: Sequence[Verdict],
    json_file: Path | None,
    out: Console,
    took: float,
) -> int:
    """Limits, failures and the JSON file; the exit status."""
    report.verdict_table(verdicts, out)
    report.failures(results, out)
    out.print(f"It took {took:.0f} s.")
    if json_file is not None:
        limits = [verdict.as_json() for verdict in verdicts]
        write(json_file, {**facts(name), **results.as_json(), "limits": limits})
    well = results.runs and not results.failed and all(verdict.well for verdict in verdicts)
    return 0 if well else 1


def facts(name: str) -> dict[str, Any]:
    return {
        "isthmus": VERSION,
        "place": name,
        "host": platform.node(),
        "kernel": platform.release(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def write(path: Path, data: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"--json {path}: cannot be written: {error.strerror}") from None
