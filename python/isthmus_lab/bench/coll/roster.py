"""The contestants of `isthmus bench coll`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.base.errors import IsthmusError, UsageError
from isthmus.grid import gridwriting
from isthmus.grid.grid import GatewaySpec, Grid
from isthmus.measuring.program import prepare
from isthmus.place.placement import Part
from isthmus.place.placement import place as place_ranks
from isthmus_lab.bench import gridfile, mpis
from isthmus_lab.bench.coll import peers
from isthmus_lab.bench.coll.contestants import Block, IsthmusWorld, NativeWorld
from isthmus_lab.bench.coll.options import Options
from isthmus_lab.bench.coll.tuning import tune
from isthmus_lab.bench.limits import PLAIN
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.bench.wanted import Wanted
from isthmus_lab.lab.programs import find_papers
from isthmus_lab.measuring.place import LOOPBACK, Place, end_of

COLL = Path(__file__).with_name("coll.c")
OURS, DIRECT, MEMORY = "isthmus", "isthmus-direct", "isthmus-memory"
GATEWAYS = (1, 2, 4)
SENDERS = (1, 2, 4, 8)
ALL_SENDERS = (*SENDERS, 16)  # more than the wide area of `matsuda16` carries
Contestant = IsthmusWorld | NativeWorld

# The algorithms of Matsuda et al., and those that they compare them with: for bcast / allreduce.
_BOTH = ("bcast", "allreduce")
OLDER, FLAT = "two-level", "flat"
_PAPERS = {
    OLDER: ("farfirst / two-tier", "bcast=farfirst,allreduce=two-tier"),
    FLAT: ("van de Geijn / Rabenseifner", "bcast=van-de-geijn,allreduce=rabenseifner"),
    **{
        f"senders={n}": (
            f"van de Geijn / Rabenseifner over the WAN, n = {n}",
            f"bcast=van-de-geijn-wan:senders={n},allreduce=rabenseifner-wan:senders={n}",
        )
        for n in ALL_SENDERS
    },
}


def label_in(label: str, collective: str) -> str:
    """A contestant's label in a picture of one collective: of two algorithms, the one for it."""
    before, slash, after = label.partition(" / ")
    if not slash or collective not in _BOTH:
        return label
    algorithm, over, rest = after.partition(" over ")
    return f"{before if collective == _BOTH[0] else algorithm}{over}{rest}"


def paper(name: str) -> str:
    """The key of a contestant with the paper's algorithms: OLDER, FLAT or senders=N."""
    return f"{DIRECT}/{name}"


def contestants(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Contestant]:
    """The contestants that can run at this place; the others are reported. `folder` is for grid
    files, and lives as long as the contestants."""
    wanted = Wanted(options.only)
    natives = mpis.find(options.mpis)
    ours = _ours(place, natives, options, folder, wanted, say)
    found: list[Contestant] = [one for one in ours if not one.choices]
    if place.lab and place.open:
        found += _natives(place, natives, options, wanted, say)
    elif place.lab:
        found += _inside(place, natives, options, wanted, say)
    wanted.check()
    return [*found, *(one for one in ours if one.choices)]


def _ours(
    place: Place,
    natives: Sequence[Mpi],
    options: Options,
    folder: Path,
    wanted: Callable[[str], bool],
    say: Callable[[str], None],
) -> list[IsthmusWorld]:
    kinds: list[tuple[str, str, Grid, str]] = []
    direct = gridfile.reached(place.grid, "direct") if place.open else None
    if direct:
        kinds.append((DIRECT, "Isthmus, direct", direct, ""))
    if direct and place.lab:
        plain = gridfile.reached(place.grid, "direct", encrypt=False)
        kinds.append((PLAIN, "Isthmus, direct, not encrypted", plain, ""))
    if place.name == LOOPBACK:
        kinds.append((MEMORY, "Isthmus, shared memory", place.grid, ""))
    kinds.append((OURS, "Isthmus, gateways", gridfile.reached(place.grid, "gateway"), ""))
    for count in GATEWAYS:
        if gateways := _on_nodes(place, count):
            label = f"Isthmus, {count} gateway{'s' if count > 1 else ''} on nodes"
            grid = gridfile.with_gateways(place.grid, gateways)
            kinds.append((f"{OURS}-{count}", label, grid, ""))
    chosen = [(text, f"Isthmus, {text}", text) for text in options.algorithms]
    if direct and place.lab:
        left_out = {f"senders={n}" for n in ALL_SENDERS if n > _least_nodes(place)}
        chosen += [(n, label, text) for n, (label, text) in _PAPERS.items() if n not in left_out]
    for name, label, text in chosen:
        kinds.append((f"{DIRECT}/{name}", label, direct or place.grid, text))
    all_of_them = not options.quick or place.name == LOOPBACK
    # A quick run has no task for contestants with gateways (plan.py), so they are not tuned.
    kinds = [k for k in kinds if wanted(k[0]) and (all_of_them or k[0].startswith(DIRECT))]
    if not kinds:
        return []
    blocks = _blocks(place, options, natives)
    papers = find_papers() if place.lab or place.name == LOOPBACK else None
    files: dict[str, Path] = {}
    made = []
    for key, label, grid, choices in kinds:
        text = gridwriting.write(grid)
        if text not in files:
            files[text] = folder / f"{len(files)}.toml"
            files[text].write_text(text)
            if options.tune:
                passes = 1 if options.quick else 2
                tune(files[text], grid, _mpicc(natives), passes, say)
        algorithms = named_in(choices)
        made.append(IsthmusWorld(key, label, files[text], blocks, choices, algorithms, papers))
    return made


def _program(mpi: Mpi, label: str, say: Callable[[str], None]) -> str | None:
    """Compiles the benchmark. Says so and returns None if that fails."""
    try:
        return prepare(mpi.mpicc, None, COLL)
    except IsthmusError as error:
        say(f"{label} is left out: {error}")
        return None


def _inside(
    place: Place,
    natives: Sequence[Mpi],
    options: Options,
    wanted: Callable[[str], bool],
    say: Callable[[str], None],
) -> list[NativeWorld]:
    """For sites that no native MPI joins: each MPI inside each site, with as many ranks as all
    sites have together."""
    assert place.network
    ranks = sum(one.size for one in place_ranks(place.grid.cluster, _parts(place, options)))
    made: list[NativeWorld] = []
    for mpi in natives:
        for site in place.grid.cluster:
            key, label = f"inside-{site}-{mpi.key}", f"{mpi.label}, inside {site}"
            if not wanted(key):
                continue
            program = _program(mpi, label, say)
            if program is None:
                continue
            hosts = tuple(node.name for node in place.network.of_site(site, "node")[:ranks])
            blocks = (Block(site, ranks, ""),)
            setting = peers.settings(mpi)[0]
            made.append(NativeWorld(key, label, mpi, program, blocks, setting, hosts))
    return made


def _mpicc(natives: Sequence[Mpi]) -> str:
    """For clusters whose MPI the grid file does not name."""
    return natives[0].mpicc if natives else "mpicc"


def named_in(choices: str) -> frozenset[str] | None:
    """The collectives in a text for ISTHMUS_COLL, or None."""
    names = [choice.partition("=")[0].strip() for choice in choices.split(",") if choice]
    return frozenset(names) or None


def _least_nodes(place: Place) -> int:
    """The number of nodes of the smallest cluster of a lab."""
    assert place.network
    return min(len(place.network.of_site(cluster, "node")) for cluster in place.grid.cluster)


def _on_nodes(place: Place, count: int) -> list[GatewaySpec]:
    """This number of gateways of each cluster on its first nodes; none if it has fewer nodes."""
    made = []
    for cluster in place.grid.cluster if place.network else ():
        assert place.network
        nodes = place.network.of_site(cluster, "node")[:count]
        if len(nodes) < count:
            return []
        made += [
            GatewaySpec.model_validate(
                {"cluster": cluster, "host": node.name, "address": [node.ports[0].address]}
            )
            for node in nodes
        ]
    return made


def _parts(place: Place, options: Options) -> list[Part]:
    """As `isthmus run -n` places them, or the same number for each cluster."""
    if not options.equally or options.n is None:
        return [Part(["coll"], options.n)]
    clusters = list(place.grid.cluster)
    each, rest = divmod(options.n, len(clusters))
    if rest:
        raise UsageError(
            f"-n {options.n} --equally: {len(clusters)} clusters cannot have equal numbers of ranks"
        )
    return [Part(["coll"], each, on=cluster) for cluster in clusters]


def _blocks(place: Place, options: Options, natives: Sequence[Mpi]) -> tuple[Block, ...]:
    programs: dict[tuple[str, str | None], str] = {}
    made = []
    for block in place_ranks(place.grid.cluster, _parts(place, options)):
        end = end_of(place, block.cluster)
        mpicc = mpis.mpicc_at(end, natives)
        at = (mpicc, end.compile_on)
        if at not in programs:
            programs[at] = prepare(mpicc, end.compile_on, COLL)
        made.append(Block(block.cluster, block.size, programs[at]))
    return tuple(made)


def _hosts(place: Place, blocks: Sequence[Block]) -> tuple[str, ...]:
    """The first nodes of each site, one for each rank or all of them."""
    assert place.network
    sites = [(place.network.of_site(b.cluster, "node"), b.ranks) for b in blocks]
    return tuple(node.name for nodes, ranks in sites for node in nodes[:ranks])


def _natives(
    place: Place,
    natives: Sequence[Mpi],
    options: Options,
    wanted: Callable[[str], bool],
    say: Callable[[str], None],
) -> list[NativeWorld]:
    blocks = tuple(
        Block(block.cluster, block.size, "")
        for block in place_ranks(place.grid.cluster, _parts(place, options))
    )
    made: list[NativeWorld] = []
    for mpi in natives:
        for setting in peers.settings(mpi):
            key, label = f"native-{mpi.key}-{setting.name}", f"{mpi.label}, {setting.name}"
            if not wanted(key):
                continue
            program = _program(mpi, label, say)
            if program is None:
                continue
            hosts = _hosts(place, blocks) if options.equally else ()
            made.append(NativeWorld(key, label, mpi, program, blocks, setting, hosts))
    return made
