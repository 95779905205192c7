"""Options of several commands."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus.base.errors import UsageError

GridArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="The grid file; the same as -g.", show_default=False),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def grid_option(text: str, panel: str | None = None) -> Any:
    """The option that names a grid file; `text` is its help."""
    return typer.Option("-g", "--grid", metavar="FILE", help=text, rich_help_panel=panel)


def grid_file(argument: Path | None, option: Path | None) -> Path | None:
    """Returns None if neither the command line nor ISTHMUS_GRID names a file."""
    if argument and option and argument != option:
        raise UsageError(f"two grid files are named, {option} and {argument}", "Give one of them.")
    named = argument or option or os.environ.get("ISTHMUS_GRID")
    return Path(named) if named else None
