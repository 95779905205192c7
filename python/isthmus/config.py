"""What programs and their builds ask of this installation."""

import sysconfig
from pathlib import Path
from typing import Annotated

import typer

from isthmus.errors import RunError
from isthmus.install import find_isthmusd


def includedir() -> Path:
    """The folder of isthmus.h, isthmus.f90 and isthmus_topology.py."""
    folders = [
        find_isthmusd().parent.parent / "include" / "isthmus",
        Path(sysconfig.get_path("data")) / "include" / "isthmus",
        Path(__file__).parents[2] / "include",  # of a checkout
    ]
    for folder in folders:
        if (folder / "isthmus.h").is_file():
            return folder
    raise RunError(f"isthmus.h was not found; looked in {folders[0]}", "Install Isthmus anew.")


def config(
    cflags: Annotated[
        bool, typer.Option("--cflags", help="What compilers need to find isthmus.h.")
    ] = False,
    includedir_: Annotated[
        bool,
        typer.Option(
            "--includedir", help="The folder of isthmus.h, isthmus.f90 and isthmus_topology.py."
        ),
    ] = False,
) -> None:
    """Tell what programs need that ask for the topology of the grid.

    [bold]mpicc $(isthmus config --cflags) app.c[/bold]
    [bold]mpif90 -c $(isthmus config --includedir)/isthmus.f90[/bold]
    [bold]PYTHONPATH=$(isthmus config --includedir) isthmus run python3 app.py[/bold]"""
    folder = includedir()
    if cflags:
        print(f"-I{folder}")
    if includedir_ or not cflags:
        print(folder)
