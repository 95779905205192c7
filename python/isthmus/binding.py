"""--bind-to and --map-by: wishes that agents pass to the native launcher of their cluster."""

from collections.abc import Iterator

from isthmus.errors import UsageError, did_you_mean, listing
from isthmus.partoptions import PartOptions

_BIND, _MAP = "--bind-to", "--map-by"
# All native launchers know these (src/daemon/launch/launcher.cpp).
_KNOWN = {_BIND: ("core", "socket", "none"), _MAP: ("core", "socket", "node")}


def wishes(run: PartOptions) -> dict[str, str]:
    """The settings of agents, "bind_to" and "map_by". UsageError."""
    return dict(setting(*given) for given in given_options(run))


def given_options(run: PartOptions) -> Iterator[tuple[str, str]]:
    for option, value in ((_BIND, run.bind_to), (_MAP, run.map_by)):
        if value is not None:
            yield option, value


def setting(option: str, value: str) -> tuple[str, str]:
    """The name of the agent's setting, and the value. UsageError if not all launchers know it."""
    known = _KNOWN[option]
    if value not in known:
        near = did_you_mean(value, known)
        raise UsageError(
            f"{option} {value}: Isthmus knows {listing(known)}{near}",
            "Give other values to the launcher of each cluster, by 'launch' in the grid file: "
            f'launch = "mpirun {option} {value}".',
        )
    return option[2:].replace("-", "_"), value
