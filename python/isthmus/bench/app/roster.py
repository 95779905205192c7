"""Who takes part in `isthmus bench app`."""

from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

from isthmus.bench import gridfile, mpis
from isthmus.bench.app.contestants import Contestant, IsthmusApp, NativeApp
from isthmus.bench.app.options import Options
from isthmus.bench.coll.tuning import tune
from isthmus.bench.contestants import tunings
from isthmus.errors import UsageError, listing
from isthmus.grid import Grid
from isthmus.measuring.place import LOOPBACK, Place

OURS, DIRECT, MEMORY = "isthmus", "isthmus-direct", "isthmus-memory"
_SETTINGS = ("default", "tuned", "eager")


def contestants(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Contestant]:
    """Those that can run at this place and are asked for. `folder` is for grid files, and lives as
    long as the contestants."""
    natives = tuple(mpis.find(options.mpis))
    found: list[Contestant] = []
    grids: dict[str, Grid] = {}
    for key, label, grid in _kinds(place):
        found.append(IsthmusApp(key, label, place, folder / f"{key}.toml", natives))
        grids[key] = grid
    if place.lab and place.network:
        for mpi in natives:
            settings = tunings(mpi)
            found += [
                NativeApp(
                    f"native-{mpi.key}-{name}", f"{mpi.label}, {name}", place.network, mpi,
                    settings[name],
                )
                for name in _SETTINGS
            ]  # fmt: skip
    wanted = options.only or (() if not options.quick else QUICK)
    chosen = [one for one in found if not wanted or any(fnmatch(one.key, p) for p in wanted)]
    if not chosen:
        keys = [one.key for one in found]
        raise UsageError(f"--only {' '.join(options.only)}: nobody is called so; {listing(keys)}")
    for one in chosen:
        if isinstance(one, IsthmusApp):
            one.grid.write_text(gridfile.write(grids[one.key]))
            if options.tune:
                mpicc = natives[0].mpicc if natives else "mpicc"
                tune(one.grid, grids[one.key], mpicc, 1, say)
    return chosen


# The eager natives of a quick run are left out: programs mostly wait for small messages.
QUICK = (OURS, DIRECT, "native-*-default", "native-*-tuned")


def _kinds(place: Place) -> list[tuple[str, str, Grid]]:
    made = []
    if place.open:
        made.append((DIRECT, "Isthmus, direct", gridfile.reached(place.grid, "direct")))
    made.append((OURS, "Isthmus, gateways", gridfile.reached(place.grid, "gateway")))
    if place.name == LOOPBACK:
        made.append((MEMORY, "Isthmus, shared memory", place.grid))
    return made
