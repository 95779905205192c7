"""The grid file: its clusters, and how they are joined."""

import codecs
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isthmus import gridnames, gridsense, gridtext, gridwords, innergrids
from isthmus.complaints import Complaints
from isthmus.errors import UsageError
from isthmus.gridtables import (
    ClusterSpec,
    GatewaySpec,
    Grid,
    LinkSpec,
    NetworkSpec,
    RelaySpec,
    SharedSpec,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "ClusterSpec",
    "GatewaySpec",
    "Grid",
    "LinkSpec",
    "NetworkSpec",
    "RelaySpec",
    "SharedSpec",
    "load",
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
    for spec in tomllib.loads(text).get("grid", {}).values():
        yield from texts(innergrids.path_of(path, spec["file"]))


def _load(path: Path, above: tuple[Path, ...]) -> Grid:
    """`above` are the files that include this one, the outermost first."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark first
    except OSError as error:
        raise UsageError(f"cannot read the grid file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        utf16 = path.read_bytes()[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        what = "is UTF-16 text" if utf16 else "is not UTF-8 text"
        raise UsageError(f"{path}: the grid file {what}", "Save it as UTF-8.") from None
    return _parse(text, str(path), (*above, path))


def _parse(text: str, name: str, files: tuple[Path, ...]) -> Grid:
    """`files` are the files that are being read, this one last."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: not valid TOML: {error}") from None
    wrong = Complaints(text, name)
    own = _model(data, wrong)
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
    return _entered(whole)


def _entered(grid: Grid) -> Grid:
    """The grid with `start` as the host where it stands for ssh."""
    return grid.model_copy(
        update={
            "cluster": {name: spec.entered() for name, spec in grid.cluster.items()},
            "gateway": [spec.entered() for spec in grid.gateway],
            "relay": [spec.entered() for spec in grid.relay],
        }
    )


def _model(data: dict[str, Any], wrong: Complaints) -> Grid | None:
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
