"""The command `isthmus tune`."""

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from isthmus.base.errors import RunError, UsageError
from isthmus.base.options import GridArgument, grid_file, grid_option
from isthmus.base.tables import console
from isthmus.base.units import format_rate
from isthmus.grid import grid as grids
from isthmus.grid import gridwriting
from isthmus.grid.grid import Grid
from isthmus.tune import store
from isthmus.tune.agreement import Verdict, judge, told
from isthmus.tune.figures import Figures
from isthmus.tune.measure import measure


def tune(
    argument: GridArgument = None,
    grid: Annotated[
        Path | None,
        grid_option(
            "The grid file. Default: the file that ISTHMUS_GRID names.",
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            min=1,
            metavar="N",
            help="Ranks of each cluster that take part. Default: its slots, at most 16.",
        ),
    ] = None,
    passes: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Maximum number of runs. Stops earlier once the best two agree in all figures.",
        ),
    ] = 8,
    mpicc: Annotated[
        str,
        typer.Option(
            metavar="MPICC",
            help="The compiler of the measuring program, for clusters without 'mpi' key.",
        ),
    ] = "mpicc",
    forget: Annotated[
        bool, typer.Option("--forget", help="Remove the stored measurements.")
    ] = False,
) -> None:
    """Measure the networks of a grid once, so that the best collective algorithms are chosen.

    In each cluster, it measures latency and bandwidth of a rank's link, the cost of a message, and
    what the links between its halves carry together.
    Between clusters, it measures latency, and the bandwidth of all senders together. Pairs with
    different links keep figures of their own. With three or more clusters, it also measures what
    the network paths from one cluster to several others share.

    Measuring is repeated until the best two runs agree. Figures that do not agree, or contradict
    the grid file, are not kept. The others are kept beside the grid file, as GRID.tune.json. Each
    `isthmus run` with that file uses them until the file changes. ISTHMUS_NETWORK in the
    environment of `isthmus run` overrides them."""
    file = grid_file(argument, grid)
    if not file:
        raise UsageError("no grid file is named", "Name one: isthmus tune FILE, or ISTHMUS_GRID.")
    spec = grids.load(file)
    if forget:
        store.path_for(file).unlink(missing_ok=True)
        return
    with tempfile.TemporaryDirectory(prefix="isthmus-tune-") as folder:
        own = _own_grid(file, spec, Path(folder))
        verdict = _measured(lambda: measure(own, spec, n, mpicc), spec, passes)
    _show(verdict)
    show_halves(verdict.figures)
    _show_shared(verdict.figures)
    for doubt in verdict.doubts:
        _tell(f"not kept: {doubt.sentence}")
    if not verdict.figures.network(verdict.left_out):
        raise RunError(
            "nothing is kept, because no figure is reliable",
            "Measure again while nothing else uses these hosts and the network between them.",
        )
    when = datetime.now(timezone.utc).isoformat(timespec="seconds")
    path = store.write(file, verdict.figures, when, verdict.left_out)
    print(f"kept in {path}")


def _own_grid(file: Path, spec: Grid, folder: Path) -> Path:
    """The grid file of the measuring runs: the user's, unless a cluster's `program` would run in
    place of the measuring program."""
    if not any(cluster.program for cluster in spec.cluster.values()):
        return file
    own = folder / file.name
    own.write_text(gridwriting.write(gridwriting.without_programs(spec)))
    return own


def _measured(run: Callable[[], Figures], spec: Grid, passes: int) -> Verdict:
    """Runs until the best two agree, at most `passes` times, and reports each run."""
    runs: list[Figures] = []
    while True:
        _tell(f"measuring, run {len(runs) + 1} of at most {passes}")
        begun = time.monotonic()
        runs.append(run())
        verdict = judge(runs, spec)
        known = [spread for spread in verdict.spreads if spread is not None]
        said = f"; the two best runs differ by {told(max(known))}" if known else ""
        _tell(f"measured in {time.monotonic() - begun:.0f} s{said}")
        if len(runs) >= passes or (len(runs) > 1 and not verdict.doubts):
            return verdict


def _tell(sentence: str) -> None:
    """Progress, on a terminal or not."""
    print(f"isthmus: {sentence}", file=sys.stderr, flush=True)


def _percent(spread: float | None) -> str:
    return "one run" if spread is None else told(spread)


def _show(verdict: Verdict) -> None:
    figures = verdict.figures
    spreads = iter(verdict.spreads)
    table = Table("between", "ranks", "latency", "bandwidth", "per message", "runs differ by")
    for cluster in figures.clusters:
        table.add_row(
            f"ranks of {cluster.name}",
            str(cluster.ranks),
            _time(cluster.latency),
            _rate(cluster.rate),
            _time(cluster.message),
            _percent(next(spreads)),
        )
    for pair in figures.pairs:
        names = " and ".join(pair.between)
        senders = f"{pair.senders} each"
        figures_of = (_time(pair.latency), _rate(pair.rate), _time(pair.message))
        table.add_row(names, senders, *figures_of, _percent(next(spreads)))
    console().print(table)


def show_halves(figures: Figures) -> None:
    """Clusters whose halves have a narrow network between them."""
    for cluster in figures.clusters:
        if cluster.narrow:
            links = _rate(cluster.halves * cluster.rate)
            print(
                f"between the halves of {cluster.name}: {_rate(cluster.across)} together, where "
                f"{cluster.halves} links have {links}. Collectives are quicker if the grid file "
                "has the halves as two clusters."
            )


def _show_shared(figures: Figures) -> None:
    for stretch in figures.stretches():
        source = stretch.between[0][0]
        others = " and ".join(other for _, other in stretch.between)
        print(f"from {source} to {others} at the same time: {_rate(stretch.rate)} together")


def _time(seconds: float) -> str:
    if seconds <= 0:
        return "not measured"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def _rate(bytes_per_second: float) -> str:
    return format_rate(float(f"{bytes_per_second * 8:.4g}")) if bytes_per_second else "not measured"
