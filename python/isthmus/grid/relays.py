"""Relays of a grid file: hosts without ranks where clusters meet that only dial out. A relay is
planned as a cluster that only forwards. It comes last, so that the others connect to it."""

from itertools import combinations

from isthmus.grid import services
from isthmus.grid.grid import ClusterSpec, GatewaySpec, Grid, LinkSpec, RelaySpec
from isthmus.grid.services import members


def names(grid: Grid) -> list[str]:
    """The names of the relays, in the order of the file."""
    count = len(_started(grid))
    return ["relay" if count == 1 else f"relay{i}" for i in range(1, count + 1)]


def expanded(grid: Grid) -> Grid:
    """The same grid with a cluster, a gateway and links for each relay, and a link for each pair of
    clusters that a service joins. No `relay` is left. Pairs of clusters with a relay in common need
    no link of their own."""
    if not grid.relay:
        return grid
    known = dict(zip(names(grid), _started(grid), strict=True))
    links = list(grid.link)
    if not links:
        met = {frozenset(pair) for relay in grid.relay for pair in _pairs(grid, relay)}
        links = [
            LinkSpec(between=[a, b])
            for a, b in combinations(grid.cluster, 2)
            if frozenset((a, b)) not in met
        ]
    links += services.links(grid)
    for name, relay in known.items():
        links += [LinkSpec(between=[cluster, name]) for cluster in members(grid, relay)]
    gateways = [
        GatewaySpec(cluster=name).model_copy(
            update={key: getattr(relay, key) for key in ("address", "port", "listen", "threads")}
        )
        for name, relay in known.items()
    ]
    places = {
        name: ClusterSpec(host=relay.host, prefix=relay.prefix) for name, relay in known.items()
    }
    return grid.model_copy(
        update={
            "cluster": {**grid.cluster, **places},
            "gateway": [*grid.gateway, *gateways],
            "link": links,
            "relay": [],
        }
    )


def meeting(grid: Grid, used: set[str], *, least: int = 2) -> set[str]:
    """The relays at which at least `least` of these clusters meet; with 1, one may meet other
    runs."""
    known = zip(names(grid), _started(grid), strict=True)
    return {name for name, relay in known if len(used & set(members(grid, relay))) >= least}


def _started(grid: Grid) -> list[RelaySpec]:
    """The relays that the run starts."""
    return [relay for relay in grid.relay if not relay.service]


def _pairs(grid: Grid, relay: RelaySpec) -> list[tuple[str, str]]:
    return list(combinations(members(grid, relay), 2))
