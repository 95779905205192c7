"""Grid files written out again, for commands that start programs of their own on a user's grid."""

import json
from typing import Any

from isthmus.base.quantities import Duration, Rate
from isthmus.grid.grid import Grid
from isthmus.grid.gridtables import Table
from isthmus.grid.reach import Entry


def without_programs(grid: Grid) -> Grid:
    """The same grid without the clusters' `program`, which would replace every program."""
    clusters = {
        name: cluster.model_copy(update={"program": None}) for name, cluster in grid.cluster.items()
    }
    return grid.model_copy(update={"cluster": clusters})


def write(grid: Grid) -> str:
    """TOML that `isthmus.grid.grid.parse` reads as the same grid, all in one file: its clusters
    are then in no inner grid."""
    out: list[str] = []
    for name, value in _keys(grid, {"cluster", "network", "gateway", "link"}):
        out.append(f"{name} = {_value(value)}")
    for name, cluster in grid.cluster.items():
        out += ["", f'[cluster."{name}"]', *_lines(cluster)]
    for name, network in grid.network.items():
        out += ["", f'[network."{name}"]', *_lines(network)]
    for gateway in grid.gateway:
        out += ["", "[[gateway]]", *_lines(gateway)]
    for link in grid.link:
        out += ["", "[[link]]", *_lines(link)]
    return "\n".join(out) + "\n"


def data(table: Table) -> dict[str, Any]:
    """The keys that are not as by default, as a TOML file has them."""
    found = {}
    for key, default in table.model_fields.items():
        value = getattr(table, key)
        entered = key == "host" and isinstance(value, Entry)  # `start` says it
        if value is not None and value != default and not entered:
            found[key] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return data(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, (Rate, Duration)) else value


def _keys(table: Table, but: set[str]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in data(table).items() if key not in but]


def _lines(table: Table) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in _keys(table, set())]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)  # strings, numbers and truth as TOML has them
