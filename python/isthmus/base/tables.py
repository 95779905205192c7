"""The console that tables are printed on."""

from rich.console import Console

_WIDTH = 160  # characters of a line in a pipe or a file, whose readers wrap nothing


def console() -> Console:
    """Standard output. A terminal has its own width; elsewhere rows stay whole."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=_WIDTH)
