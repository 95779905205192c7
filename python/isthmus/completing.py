"""Values that shells complete: clusters, jobs, runs. A completion never fails or prints: it offers
nothing where it cannot find out."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from isthmus import later


def _offered(names: Callable[[], list[str]]) -> Callable[[str], list[str]]:
    """As typer takes it: the names that begin with what was typed."""

    def offer(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except (Exception, SystemExit):
            return []

    return offer


def _file(ctx: Any) -> str | None:
    """The grid file that the command line or ISTHMUS_GRID names."""
    given = (ctx.params.get(name) for name in ("grid", "file", "argument"))
    named = next((word for word in given if word), None) or os.environ.get("ISTHMUS_GRID")
    return str(named) if named else None


def _clusters(file: str) -> list[str]:
    return list(later.fetch("isthmus.grid:load")(Path(file)).cluster)


def clusters(ctx: Any, incomplete: str) -> list[str]:
    """The clusters of a run: without a grid file, the two on this host."""
    file = _file(ctx)
    return _offered(lambda: _clusters(file) if file else ["east", "west"])(incomplete)


def clusters_of_file(ctx: Any, incomplete: str) -> list[str]:
    """The clusters of the grid file, if one is named."""
    file = _file(ctx)
    return _offered(lambda: _clusters(file) if file else [])(incomplete)


def _jobs() -> list[str]:
    home = later.fetch("isthmus.queues.place:home")()
    return [folder.name for folder in sorted(home.glob("*/"))]


def _runs() -> list[str]:
    return [run.job for run in later.fetch("isthmus.seeing.runs:every")()]


jobs = _offered(_jobs)
runs = _offered(_runs)


def place(where: str) -> Callable[[str], list[str]]:
    """Names that a function returns; it is named as `later.fetch` wants it."""
    return _offered(lambda: [str(name) for name in later.fetch(where)()])


def _known(option: str) -> list[str]:
    return list(later.fetch("isthmus.binding:KNOWN")[option])


bind_to = _offered(lambda: _known("--bind-to"))
map_by = _offered(lambda: _known("--map-by"))
