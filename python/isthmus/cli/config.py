"""The command `isthmus config`."""

from typing import Annotated

import typer

from isthmus.install import includedir


def config(
    cflags: Annotated[
        bool, typer.Option("--cflags", help="Print the compiler flags for isthmus.h.")
    ] = False,
    ulfm: Annotated[
        bool, typer.Option("--ulfm", help="Print the compiler flags for programs written for ULFM.")
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

    They are also for programs that go on without clusters that fail.

    [bold]mpicc $(isthmus config --cflags) app.c[/bold]
    [bold]mpicc $(isthmus config --ulfm) app.c[/bold]
    [bold]mpif90 -c $(isthmus config --includedir)/isthmus.f90[/bold]
    [bold]PYTHONPATH=$(isthmus config --includedir) isthmus run python3 app.py[/bold]"""
    folder = includedir()
    if cflags:
        print(f"-I{folder}")
    if ulfm:
        print(f"-I{folder}/ulfm -include {folder}/isthmus_ulfm.h")
    if includedir_ or not (cflags or ulfm):
        print(folder)
