"""Grid files written out again, with changes, for contestants that need their own."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from isthmus.grid import GatewaySpec, Grid, LinkSpec
from isthmus.grid import parse as parse_grid
from isthmus.gridkeys import Reach


def write(grid: Grid) -> str:
    """TOML that `isthmus.grid.parse` reads as the same grid, all in one file: its clusters are then
    in no inner grid."""
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


def reached(grid: Grid, reach: Reach, **keys: Any) -> Grid:
    """The same grid; all its links have that `reach`, and these keys."""
    names = list(grid.cluster)
    every_pair = [LinkSpec(between=[a, b]) for i, a in enumerate(names) for b in names[i + 1 :]]
    update = {"reach": reach, **keys}
    links = [link.model_copy(update=update) for link in grid.link or every_pair]
    return parse_grid(write(grid.model_copy(update={"link": links})), reach)


def with_plain_legs(grid: Grid) -> Grid:
    """The same grid, without encryption between the ranks of a cluster and their gateways."""
    clusters = {
        name: cluster.model_copy(update={"encrypt": False})
        for name, cluster in grid.cluster.items()
    }
    return parse_grid(write(grid.model_copy(update={"cluster": clusters})), "plain legs")


def with_gateways(grid: Grid, gateways: Sequence[GatewaySpec]) -> Grid:
    """The same grid with these gateways alone."""
    data = json.loads(grid.model_dump_json(exclude_none=True, exclude_defaults=True))
    data["gateway"] = [
        json.loads(gateway.model_dump_json(exclude_none=True)) for gateway in gateways
    ]
    return parse_grid(write(Grid.model_validate(data)), "gateways")


def _keys(model: BaseModel, but: set[str]) -> list[tuple[str, Any]]:
    data = model.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return [(key, value) for key, value in data.items() if key not in but]


def _lines(model: BaseModel) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in _keys(model, set())]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)  # strings, numbers and truth as TOML has them
