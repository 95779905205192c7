"""Values that shells complete: clusters, jobs, runs. A completion never fails or prints: it offers
nothing where it cannot find out."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from isthmus.base import later


def _offered(names: Callable[[], list[str]]) -> Callable[[str], list[str]]:
    """As typer takes it: the names that begin with what was typed."""

    def offer(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except (Exception, SystemExit):
            return []

    return offer


def given(names: Callable[[Mapping[str, Any]], list[str]]) -> Callable[[Any, str], list[str]]:
    """For names that depend on the options and arguments that stand before."""

    def offer(ctx: Any, incomplete: str) -> list[str]:
        return _offered(lambda: names(ctx.params))(incomplete)

    return offer


def _clusters(params: Mapping[str, Any]) -> list[str] | None:
    """Clusters of the grid file, which the command line or ISTHMUS_GRID names."""
    words = (params.get(name) for name in ("grid", "file", "argument"))
    named = next((word for word in words if word), None) or os.environ.get("ISTHMUS_GRID")
    return list(later.fetch("isthmus.grid.grid:load")(Path(named)).cluster) if named else None


# Without a grid file, a run has two clusters on this host.
clusters = given(lambda params: _clusters(params) or ["east", "west"])
clusters_of_file = given(lambda params: _clusters(params) or [])


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
    return list(later.fetch("isthmus.place.binding:KNOWN")[option])


bind_to = _offered(lambda: _known("--bind-to"))
map_by = _offered(lambda: _known("--map-by"))
