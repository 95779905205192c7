"""The command `isthmus doctor`."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from isthmus import allocation
from isthmus import grid as grids
from isthmus.doctor import checks, findings
from isthmus.doctor.findings import Finding
from isthmus.gridoption import GridArgument, grid_file


def doctor(
    argument: GridArgument = None,
    grid: Annotated[
        Path | None,
        typer.Option(
            "-g",
            "--grid",
            metavar="FILE",
            help="The grid file. Without it: the one that ISTHMUS_GRID names, else the groups of "
            "the heterogeneous Slurm job that this is in, else this host alone is looked at.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look whether the clusters of a grid and the links between them are fit, and say what mends
    them.

    Of each cluster: ssh, Isthmus and its version, the MPI, the clock. Of the gateways: whether
    they join, as in a run. Of each two clusters: whether they see the same files. Of each link:
    the port, MTU, round-trip time and rate as plain TCP gets them, and the kernel's bounds on TCP
    against bandwidth x delay. Nothing that stays is changed. The exit status is 1 when something
    would keep a run from working; a warning does not count."""
    found: list[Finding] = []
    out = Console()

    def say(finding: Finding) -> None:
        if not json:
            findings.print_lines([finding], out, found[-1].where if found else None)
        found.append(finding)

    file = grid_file(argument, grid)
    model = grids.load(file) if file else allocation.grid_of(os.environ)
    if model:
        checks.grid(model, say)
    else:
        checks.this_host(say)
    if json:
        findings.print_json(found)
    raise typer.Exit(findings.status(found))
