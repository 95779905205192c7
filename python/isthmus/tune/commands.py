"""The command `isthmus tune`."""

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from isthmus import grid as grids
from isthmus.errors import UsageError
from isthmus.tune import store
from isthmus.tune.figures import Figures, best
from isthmus.tune.measure import measure
from isthmus.units import format_rate


def tune(
    grid: Annotated[
        Path | None,
        typer.Option(
            "-g",
            "--grid",
            metavar="FILE",
            help="The grid file. Without it: the one that ISTHMUS_GRID names.",
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            min=1,
            metavar="N",
            help="Ranks of each cluster that take part. Without it: its slots, at most 16.",
        ),
    ] = None,
    passes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs, of which the best figures count.")
    ] = 2,
    mpicc: Annotated[
        str,
        typer.Option(
            metavar="MPICC", help="Compiles the measuring program for clusters without 'mpi' key."
        ),
    ] = "mpicc",
    forget: Annotated[bool, typer.Option("--forget", help="Remove what was measured.")] = False,
) -> None:
    """Measure the networks of a grid once, for the choice of collective algorithms.

    Of each cluster: latency and bandwidth of a rank's link, and what a message costs. Of each pair
    of clusters: latency, and the bandwidth of all senders together. What is found is kept beside
    the grid file, as GRID.tune.json, and used by each `isthmus run` with that file until the file
    changes. ISTHMUS_NETWORK in the environment of `isthmus run` takes its place."""
    named = grid or os.environ.get("ISTHMUS_GRID")
    if not named:
        raise UsageError(
            "there is no grid to tune", "Name its file: isthmus tune -g FILE, or ISTHMUS_GRID."
        )
    file = Path(named)
    spec = grids.load(file)
    if forget:
        store.path_for(file).unlink(missing_ok=True)
        return
    figures = best([measure(file, spec, n, mpicc) for _ in range(passes)])
    path = store.write(file, figures, datetime.now(timezone.utc).isoformat(timespec="seconds"))
    _show(figures)
    print(f"kept in {path}")


def _show(figures: Figures) -> None:
    table = Table("between", "ranks", "latency", "bandwidth", "a message")
    for cluster in figures.clusters:
        table.add_row(
            f"ranks of {cluster.name}",
            str(cluster.ranks),
            _time(cluster.latency),
            _rate(cluster.rate),
            _time(cluster.message),
        )
    for pair in figures.pairs:
        names = " and ".join(pair.between)
        senders = f"{pair.senders} each"
        table.add_row(names, senders, _time(pair.latency), _rate(pair.rate), _time(pair.message))
    Console().print(table)


def _time(seconds: float) -> str:
    if seconds <= 0:
        return "not measured"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def _rate(bytes_per_second: float) -> str:
    return format_rate(float(f"{bytes_per_second * 8:.4g}")) if bytes_per_second else "not measured"
