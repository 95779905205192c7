"""Parts that the commands of `isthmus bench` share: their options, and where they measure."""

import os
import platform
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus.base import completing
from isthmus.base.errors import UsageError
from isthmus.base.options import grid_option
from isthmus.version import VERSION
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.measuring.place import LOOPBACK, Place, inside_lab, loopback, of_grid

TestbedOption = Annotated[
    str | None,
    typer.Option(
        "--testbed",
        metavar="TESTBED",
        help="Start this testbed of the lab and measure in it; 'loopback': on this host.",
        autocompletion=completing.place("isthmus_lab.lab.testbed:shipped"),
    ),
]
GridOption = Annotated[
    Path | None,
    grid_option("Measure over the clusters of a grid."),
]
TuneOption = Annotated[
    bool,
    typer.Option(
        "--tune/--no-tune",
        help="First measure the grid for the choice of algorithms, as 'isthmus tune' does.",
    ),
]
PassesOption = Annotated[
    int,
    typer.Option("--passes", min=1, metavar="N", help="Number of turns of each contestant."),
]
NativeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--native",
        metavar="MPI",
        help="Compare with this MPI: openmpi, mpich, or the folder where it is installed. May be "
        "repeated. Isthmus runs over the first one. Default: all that are found.",
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="Measure only these contestants, such as isthmus-direct, 'native-*'. May be repeated.",
    ),
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write every sample to this file.")
]
FiguresOption = Annotated[
    Path | None,
    typer.Option("--figures", metavar="DIR", help="Draw figures in this folder, as PNG and SVG."),
]
HtmlOption = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write tables and figures to a page, which a browser opens without a network.",
    ),
]
TrafficOption = Annotated[
    bool,
    typer.Option(
        "--traffic",
        help="In labs: keep, and draw with --figures, the traffic over the wide area in each "
        "millisecond.",
    ),
]
InsideOption = Annotated[Path | None, typer.Option("--inside", hidden=True)]


def leave(number: int, _: object) -> None:
    """On a signal, ends everything that was started."""
    sys.exit(128 + number)


def say(sentence: str) -> None:
    print(f"isthmus bench: {sentence}", file=sys.stderr, flush=True)


def inside() -> bool:
    return "ISTHMUS_LAB" in os.environ


def in_labs(testbed: str | None) -> bool:
    """Whether the benchmark starts labs for it."""
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
    """Reads -n: "4,8,16", each once."""
    words = text.split(",") if text else []
    if not all(word.strip().isdigit() and int(word) >= 2 for word in words):
        raise UsageError(f"-n {text}: must be numbers of at least 2, such as 4,8,16")
    return tuple(dict.fromkeys(int(word) for word in words))


def facts(name: str) -> dict[str, Any]:
    return {
        "isthmus": VERSION,
        "place": name,
        "host": platform.node(),
        "kernel": platform.release(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
