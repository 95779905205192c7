"""Grid files written out again, with changes, for contestants that need their own."""

from collections.abc import Sequence
from typing import Any

from isthmus.grid import gridwriting
from isthmus.grid.grid import GatewaySpec, Grid, LinkSpec
from isthmus.grid.grid import parse as parse_grid
from isthmus.grid.gridkeys import Reach


def reached(grid: Grid, reach: Reach, **keys: Any) -> Grid:
    """The same grid; all its links have that `reach`, and these keys."""
    names = list(grid.cluster)
    every_pair = [LinkSpec(between=[a, b]) for i, a in enumerate(names) for b in names[i + 1 :]]
    update = {"reach": reach, **keys}
    links = [link.model_copy(update=update) for link in grid.link or every_pair]
    return parse_grid(gridwriting.write(grid.model_copy(update={"link": links})), reach)


def with_plain_legs(grid: Grid) -> Grid:
    """The same grid, without encryption between the ranks of a cluster and their gateways."""
    clusters = {
        name: cluster.model_copy(update={"encrypt": False})
        for name, cluster in grid.cluster.items()
    }
    return parse_grid(
        gridwriting.write(grid.model_copy(update={"cluster": clusters})), "plain legs"
    )


def with_gateways(grid: Grid, gateways: Sequence[GatewaySpec]) -> Grid:
    """The same grid with these gateways alone."""
    data = gridwriting.data(grid)
    data["gateway"] = [gridwriting.data(gateway) for gateway in gateways]
    return parse_grid(gridwriting.write(Grid.model_validate(data)), "gateways")
