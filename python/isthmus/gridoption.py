"""The grid file of a command: an argument, an option or a variable names it."""

import os
from pathlib import Path
from typing import Annotated

import typer

from isthmus.errors import UsageError

GridArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="The grid file; the same as -g.", show_default=False),
]


def grid_file(argument: Path | None, option: Path | None) -> Path | None:
    """Returns None if neither the command line nor ISTHMUS_GRID names a file."""
    if argument and option and argument != option:
        raise UsageError(f"two grid files are named, {option} and {argument}", "Give one of them.")
    named = argument or option or os.environ.get("ISTHMUS_GRID")
    return Path(named) if named else None
