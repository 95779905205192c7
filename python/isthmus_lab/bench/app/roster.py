"""The contestants of `isthmus bench app`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.grid import gridwriting
from isthmus.grid.grid import Grid
from isthmus.measuring.ends import End
from isthmus_lab.bench import gridfile, mpis
from isthmus_lab.bench.app import programs
from isthmus_lab.bench.app.contestants import Contestant, IsthmusApp, NativeApp, names_of
from isthmus_lab.bench.app.options import Options
from isthmus_lab.bench.coll.tuning import tune
from isthmus_lab.bench.contestants import tunings
from isthmus_lab.bench.limits import PLAIN
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.bench.wanted import Wanted
from isthmus_lab.lab.programs import find_nospin
from isthmus_lab.measuring.place import LOOPBACK, Place, end_of

OURS, DIRECT, MEMORY = "isthmus", "isthmus-direct", "isthmus-memory"


def contestants(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Contestant]:
    """The contestants that can run at this place and are asked for. `folder` is for grid files, and
    lives as long as the contestants."""
    natives = _natives(options)
    kinds = _kinds(place)
    ours = [_ours(place, folder, kind, tuple(natives)) for kind in kinds]
    if all(_free(end_of(place, cluster)) for cluster in place.grid.cluster):
        over_each = [kind for kind in kinds if kind.key in (kinds[0].key, PLAIN)]
        ours += [_ours(place, folder, k, (mpi,), mpi.key) for k in over_each for mpi in natives[1:]]
    found: list[Contestant] = [*ours]
    if place.lab and place.network:
        nospin = {"LD_PRELOAD": str(find_nospin())}  # `lab mpirun` gives it to MPICH alone
        for mpi in natives:
            found += [
                NativeApp(
                    f"native-{mpi.key}-{name}", f"{mpi.label}, {name}", place.network, mpi,
                    {**values, **nospin}, place.open,
                )
                for name, values in tunings(mpi).items()
            ]  # fmt: skip
    programs.check_names(options, _names(place, natives))
    wanted = Wanted(options.only or (QUICK if options.quick else ()))
    chosen = [one for one in found if wanted(one.key)]
    if options.only:
        wanted.check()
    _write_grids(kinds, chosen, natives, options, say)
    return chosen


def _names(place: Place, natives: Sequence[Mpi]) -> list[str]:
    """The names that may stand before the `=` of --program."""
    ends = [end_of(place, cluster) for cluster in place.grid.cluster]
    found = [*place.grid.cluster, *(end.mpi for end in ends if end.mpi)]
    return list(dict.fromkeys([*found, *(name for mpi in natives for name in names_of(mpi))]))


# Contestants for the limits. Programs seldom wait for a rendez-vous: natives without one sit out.
QUICK = (DIRECT, f"{PLAIN}*", "native-*-default", "native-*-tuned")


@dataclass(frozen=True)
class _Kind:
    key: str
    label: str
    grid: Grid


def _kinds(place: Place) -> list[_Kind]:
    made = []
    if place.open:
        made.append(_Kind(DIRECT, "Isthmus, direct", gridfile.reached(place.grid, "direct")))
    if place.open and place.lab:
        plain = gridfile.reached(place.grid, "direct", encrypt=False)
        made.append(_Kind(PLAIN, "Isthmus, direct, not encrypted", plain))
    made.append(_Kind(OURS, "Isthmus, gateways", gridfile.reached(place.grid, "gateway")))
    if place.name == LOOPBACK:
        made.append(_Kind(MEMORY, "Isthmus, shared memory", place.grid))
    return made


def _natives(options: Options) -> list[Mpi]:
    """A quick run has one MPI of each family."""
    found = mpis.find(options.mpis)
    if not options.quick or options.mpis:
        return found
    return list({mpi.family: mpi for mpi in reversed(found)}.values())[::-1]


def _free(end: End) -> bool:
    """Whether a cluster is on this host, and has no MPI of its own."""
    return not end.mpi and not end.compile_on


def _ours(
    place: Place, folder: Path, kind: _Kind, natives: tuple[Mpi, ...], mpi: str = ""
) -> IsthmusApp:
    key, label = kind.key, kind.label
    if mpi:
        key, label = f"{key}/{mpi}", f"{label}, {natives[0].label}"
    return IsthmusApp(key, label, place, folder / f"{kind.key}.toml", natives)


def _write_grids(
    kinds: Sequence[_Kind],
    chosen: Sequence[Contestant],
    natives: Sequence[Mpi],
    options: Options,
    say: Callable[[str], None],
) -> None:
    files = {one.grid.stem: one.grid for one in chosen if isinstance(one, IsthmusApp)}
    for kind in kinds:
        if kind.key in files:
            files[kind.key].write_text(gridwriting.write(kind.grid))
            if options.tune:
                mpicc = natives[0].mpicc if natives else "mpicc"
                tune(files[kind.key], kind.grid, mpicc, 1, say)
