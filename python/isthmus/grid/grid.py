"""The grid file: its clusters, and how they are joined."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isthmus.base import tomltext
from isthmus.base.errors import UsageError
from isthmus.grid import gridnames, gridsense, gridtext, gridwords, innergrids
from isthmus.grid.complaints import Complaints
from isthmus.grid.gridtables import (
    ClusterSpec,
    GatewaySpec,
    Grid,
    LinkSpec,
    NetworkSpec,
    RelaySpec,
    SharedSpec,
)

__all__ = [
    "ClusterSpec",
    "GatewaySpec",
    "Grid",
    "LinkSpec",
    "NetworkSpec",
    "RelaySpec",
    "SharedSpec",
    "entered",
    "load",
    "model",
    "parse",
    "two_halves",
]


def two_halves() -> Grid:
    """The grid of `isthmus run` without -g: two clusters on this host."""
    halves = {name: ClusterSpec() for name in ("east", "west")}
    return Grid(cluster=halves)


def load(path: Path) -> Grid:
    """Reads and checks a grid file, with the files that it includes. UsageError has all errors,
    each with the file, the line and the key."""
    return _load(path, ())


def parse(text: str, name: str) -> Grid:
    """As `load`, for text. `name` stands for the file in messages; files of inner grids are sought
    in its folder."""
    return _parse(text, name, (Path(name),))


def texts(path: Path) -> Iterator[str]:
    """The texts of a readable grid file: its own, and those of the files that it includes."""
    text = path.read_text(encoding="utf-8-sig")
    yield text
    for spec in tomltext.parse(text, str(path)).get("grid", {}).values():
        yield from texts(innergrids.path_of(path, spec["file"]))


def _load(path: Path, above: tuple[Path, ...]) -> Grid:
    """`above` are the files that include this one, the outermost first."""
    text = tomltext.read(path, "the grid file")
    return _parse(text, str(path), (*above, path))


def _parse(text: str, name: str, files: tuple[Path, ...]) -> Grid:
    """`files` are the files that are being read, this one last."""
    data = tomltext.parse(text, name)
    wrong = Complaints(text, name)
    own = model(data, wrong)
    if own is None:
        raise wrong.error()
    wrong.doubt()
    if not own.cluster and not own.grid:
        needed = "a grid needs at least one [cluster.NAME]"
        what = f"has none: {needed}" if "cluster" in data else f"is missing: {needed}"
        wrong.add(("cluster",), what)
    inner = _inner(own, text, files, wrong)
    whole = innergrids.joined(own, inner) if inner else own
    if inner:
        wrong.extend(gridnames.troubles_between(own, inner))
    if len(inner) == len(own.grid):  # otherwise clusters are unknown that may be named
        wrong.extend(gridnames.troubles(own.model_copy(update={"cluster": whole.cluster})))
    wrong.check()
    wrong.extend(gridsense.troubles(own, whole))
    wrong.check()
    return entered(whole)


def entered(grid: Grid) -> Grid:
    """The grid with `start` as the host where it stands for ssh."""
    return grid.model_copy(
        update={
            "cluster": {name: spec.entered() for name, spec in grid.cluster.items()},
            "gateway": [spec.entered() for spec in grid.gateway],
            "relay": [spec.entered() for spec in grid.relay],
        }
    )


def model(data: dict[str, Any], wrong: Complaints) -> Grid | None:
    """The grid without the keys that are wrong in themselves. Returns None if
    too little is left."""
    from pydantic import ValidationError  # noqa: PLC0415  (gridmodels.py says why)

    try:
        return Grid.model_validate(data)
    except ValidationError as error:
        found = gridwords.complaints(error, data)
    wrong.extend(found)
    try:
        return Grid.model_validate(gridwords.without(data, [key for key, _ in found]))
    except ValidationError:
        return None


def _inner(own: Grid, text: str, files: tuple[Path, ...], wrong: Complaints) -> dict[str, Grid]:
    """The grids that the file includes, with their clusters named as here; without those that are
    wrong."""
    found = {}
    for inner, spec in own.grid.items():
        key = ("grid", inner)
        wrong.extend(gridnames.of_name(inner, key))
        if inner in own.cluster:
            wrong.add(key, "is also the name of a cluster")
            continue
        path = innergrids.path_of(files[-1], spec.file)
        ring = [file for file in files if file.resolve() == path.resolve()]
        if ring:
            way = " -> ".join(map(str, [*files[files.index(ring[0]) :], path]))
            what = f"is a file that includes this one: {way}; a grid cannot contain itself"
            wrong.add((*key, "file"), what)
        elif not path.is_file():
            what = f"is '{spec.file}', but {path} does not exist; paths start at this file's "
            wrong.add((*key, "file"), f"{what}folder")
        else:
            try:
                found[inner] = innergrids.prefixed(inner, _load(path, files))
            except UsageError as error:
                wrong.take(gridtext.line_of(text, key), error)
    return found
