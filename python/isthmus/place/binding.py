"""--bind-to, --map-by, --ppn and --oversubscribe: wishes that agents pass to the native launcher of
their cluster."""

from collections.abc import Iterator

from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.place.partoptions import PartOptions

_BIND, _MAP = "--bind-to", "--map-by"
# All native launchers know these (src/daemon/launch/launcher.cpp).
KNOWN = {
    _BIND: ("hwthread", "core", "numa", "socket", "none"),
    _MAP: ("slot", "core", "socket", "node"),
}


def wishes(run: PartOptions) -> dict[str, object]:
    """The settings of agents for them. UsageError."""
    check_both(run)
    found: dict[str, object] = dict(setting(*given) for given in given_options(run))
    if run.ppn is not None:
        found["ranks_per_node"] = run.ppn
    if run.oversubscribe:
        found["oversubscribed"] = True
    return found


def check_both(run: PartOptions) -> None:
    if run.ppn is not None and run.map_by is not None:
        raise UsageError(
            f"--ppn {run.ppn} and --map-by {run.map_by} both place the ranks", "Give one of them."
        )


def given_options(run: PartOptions) -> Iterator[tuple[str, str]]:
    for option, value in ((_BIND, run.bind_to), (_MAP, run.map_by)):
        if value is not None:
            yield option, value


def setting(option: str, value: str) -> tuple[str, str]:
    """The name of the agent's setting, and the value. UsageError if not all launchers know it."""
    known = KNOWN[option]
    if value not in known:
        near = did_you_mean(value, known)
        raise UsageError(
            f"{option} {value}: Isthmus knows {listing(known)}{near}",
            "Give other values to the launcher of each cluster, by 'launch' in the grid file: "
            f'launch = "mpirun {option} {value}".',
        )
    return option[2:].replace("-", "_"), value
