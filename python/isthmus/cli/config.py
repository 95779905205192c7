"""The command `isthmus config`."""

from typing import Annotated

import typer

from isthmus.install import includedir


def config(
    cflags: Annotated[
        bool, typer.Option("--cflags", help="Print the compiler flags for isthmus.h.")
    ] = False,
    includedir_: Annotated[
        bool,
        typer.Option(
            "--includedir",
            help="Print the folder of isthmus.h, isthmus.f90 and the modules for mpi4py.",
        ),
    ] = False,
) -> None:
    """Print compiler flags and folders for programs that ask for the topology of the grid.

    [bold]mpicc $(isthmus config --cflags) app.c[/bold]
    [bold]mpif90 -c $(isthmus config --includedir)/isthmus.f90[/bold]
    [bold]PYTHONPATH=$(isthmus config --includedir) isthmus run python3 app.py[/bold]"""
    folder = includedir()
    if cflags:
        print(f"-I{folder}")
    if includedir_ or not cflags:
        print(folder)
