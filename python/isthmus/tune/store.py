"""The file beside a grid file that holds the figures of `isthmus tune`: GRID.tune.json."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus.grid import grid as grids
from isthmus.tune.figures import Figures, PairFigures
from isthmus.version import VERSION


def path_for(grid: Path) -> Path:
    return grid.with_suffix(".tune.json")


def write(grid: Path, figures: Figures, when: str, without: Collection[str] = ()) -> Path:
    """`without`: keys of ISTHMUS_NETWORK for which the figures are not good enough."""
    path = path_for(grid)
    data = {
        "isthmus": VERSION,
        "when": when,
        "grid": _mark(grid),
        "network": figures.network(without),
        "measured": figures.model_dump(),
    }
    try:
        path.write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise RunError(
            f"cannot write {path}: {error.strerror}",
            "Use a grid file in a folder where you may write.",
        ) from None
    return path


@dataclass(frozen=True)
class Stored:
    """`network` is for ISTHMUS_NETWORK. `pairs` are the measured pairs of clusters, with 0 where a
    figure was not good enough. `trouble` says why an existing file is not used."""

    network: str = ""
    trouble: str = ""
    pairs: tuple[PairFigures, ...] = ()


def read(grid: Path) -> Stored:
    path = path_for(grid)
    try:
        data = json.loads(path.read_text())
        network, mark = str(data["network"]), str(data["grid"])
        measured = Figures.model_validate(data["measured"])
    except FileNotFoundError:
        return Stored()
    except OSError as error:
        return Stored(trouble=f"cannot read {path}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        return Stored(trouble=f"{path} was not written by isthmus tune; tune the grid again")
    if mark != _mark(grid):
        return Stored(
            trouble=f"{grid} has changed since isthmus tune measured it, so {path.name} is not "
            "used; tune the grid again"
        )
    return Stored(network, pairs=tuple(_trusted(pair, network) for pair in measured.pairs))


def _trusted(pair: PairFigures, network: str) -> PairFigures:
    """Drops what did not go into `network`, because it was in doubt."""
    kept = {entry.partition("=")[0] for entry in network.split(",")}
    return pair.model_copy(
        update={
            "latency": pair.latency if "wan-latency" in kept else 0.0,
            "rate": pair.rate if "wan-rate" in kept else 0.0,
        }
    )


def _mark(grid: Path) -> str:
    """Changes with the contents of the grid file and of those that it includes, comments and blank
    lines aside."""
    lines = (line.strip() for text in grids.texts(grid) for line in text.splitlines())
    text = "\n".join(line for line in lines if line and not line.startswith("#"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
