"""The command `isthmus doctor`."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from isthmus.base.options import AsJson, GridArgument, grid_file, grid_option
from isthmus.doctor import checks, findings
from isthmus.doctor.findings import Finding
from isthmus.grid import allocation
from isthmus.grid import grid as grids


def doctor(
    argument: GridArgument = None,
    grid: Annotated[
        Path | None,
        grid_option(
            "The grid file. Default: the file that ISTHMUS_GRID names, else the groups of the "
            "heterogeneous Slurm job around this command. Without any, only this host is checked.",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Check the clusters and links of a grid, and print how to fix what is wrong.

    Each cluster is checked for ssh, Isthmus and its version, the MPI, its launcher and the clock.
    Gateways are joined as for a run. Pairs of clusters are checked for shared files. Each link is
    checked for its port, MTU, round-trip time and rate with plain TCP, and for limits of the kernel
    below bandwidth x delay.

    The doctor makes no lasting changes. The exit status is 1 if something would keep a run from
    working; warnings do not count."""
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
    else:
        print(findings.summary(found))
    raise typer.Exit(findings.status(found))
