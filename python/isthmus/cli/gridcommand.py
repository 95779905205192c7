"""The command `isthmus grid`."""

from pathlib import Path
from typing import Annotated

import typer

from isthmus.base.errors import UsageError
from isthmus.base.options import GridArgument, grid_file, grid_option
from isthmus.grid import grid as grids
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan

SAMPLE = Path(__file__).with_name("sample.toml")


def grid(
    argument: GridArgument = None,
    file: Annotated[
        Path | None,
        grid_option(
            "The grid file. Default: the file that ISTHMUS_GRID names.",
        ),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Print a sample grid file.")] = False,
) -> None:
    """Check a grid file without contacting any host, or print a sample.

    [bold]isthmus grid --sample > grid.toml[/bold]"""
    if sample:
        print(SAMPLE.read_text(), end="")
        return
    path = grid_file(argument, file)
    if not path:
        raise UsageError(
            "no grid file is named",
            "Name one: isthmus grid FILE. Or print a sample: isthmus grid --sample",
        )
    read = grids.load(path)
    plan = make_plan(read, [Part(["true"], 1, on=name) for name in read.cluster])
    for name, spec in read.cluster.items():
        slots = f", {spec.slots} slots" if spec.slots else ""
        print(f"cluster {name}: {spec.host or 'this host'}{slots}")
    for first, second in plan.pairs:
        names = (plan.clusters[first].name, plan.clusters[second].name)
        print(f"link {names[0]} -> {names[1]}")
    print(f"{path}: no errors found")
