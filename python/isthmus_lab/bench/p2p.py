"""The plan of `isthmus bench p2p`: which contestants do which tasks in which passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import IsthmusError, UsageError
from isthmus.grid import gridwriting
from isthmus.grid.grid import Grid
from isthmus.measuring import tasks
from isthmus.measuring.program import prepare
from isthmus.measuring.runs import Run
from isthmus.measuring.tasks import KIB, LARGEST, LATENCY_BYTES, MIB, Task
from isthmus_lab.bench import gridfile, mpis, proxies
from isthmus_lab.bench.contestants import (
    Contestant,
    Iperf,
    IsthmusRun,
    NativeMpi,
    PlainTcp,
    has_iperf,
    threads,
    tunings,
)
from isthmus_lab.bench.limits import (
    DIRECT,
    MEMORY,
    OURS,
    PLAIN,
    PLAIN_LEGS,
    PROXIES,
    TCP,
    TLS,
    UNTUNED,
)
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.bench.relays import relays
from isthmus_lab.bench.session import Entry
from isthmus_lab.bench.wanted import Wanted
from isthmus_lab.measuring.place import LOOPBACK, Place
from isthmus_lab.measuring.place import UNTUNED as UNTUNED_CEILING

QUICK_LIMIT = 255.0  # seconds; tasks that have begun still end
# The number of round trips of which the least is compared with native MPIs'. For 8 B it is as in
# Hablot et al. 2007. Larger messages need enough for one of 1 MiB to find all streams ready: the
# first eight take 30 to 45 ms over 11.6 ms, later ones mostly 30 (November 2026).
_LEAST_OF, _LEAST_OF_LARGER = 200, 20
_TOOLS = (TCP, TLS, "iperf3", *PROXIES)
_STREAMS = (1, 4)
_ROOM_SIZES = [LATENCY_BYTES, KIB, 16 * KIB, 64 * KIB, MIB, 4 * MIB]
_BANDWIDTH_ALONE = ("fatpipe", "lossy")  # testbeds with limits on bandwidth alone


@dataclass(frozen=True)
class Options:
    """Options of the command line."""

    quick: bool = False
    rounds: int = 200
    passes: int = 5
    mpis: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    figures: tuple[str, ...] = ()
    traffic: bool = False
    seconds: float = 3.0
    stream_sizes: tuple[int, ...] = ()

    @property
    def narrowed(self) -> bool:
        return bool(self.sizes or self.figures or self.stream_sizes)


def entries(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Entry[Task, Run]]:
    """`folder` is for grid files, and lives as long as the entries. UsageError if nothing is left
    to measure."""
    found = [
        Entry(contestant, _passes(place, contestant, options))
        for contestant in contestants(place, options, folder, say)
    ]
    if not found:
        raise UsageError(f"--only {' '.join(options.only)}: none of these can run here")
    if not any(tasks_ for entry in found for tasks_ in entry.tasks):
        raise UsageError(
            "nothing to measure: no task matches --only, --size and --figure",
            "Leave out one of these options.",
        )
    return found


# -- contestants ----------------------------------------------------------------------------------


def contestants(
    place: Place, options: Options, folder: Path, say: Callable[[str], None]
) -> list[Contestant]:
    """The contestants that can run at this place. The others are reported."""
    wanted = Wanted(options.only)

    found: list[Contestant] = []
    if place.open:
        found.append(PlainTcp(place))
        if place.lab:
            label = "plain TCP, small buffers"
            found.append(PlainTcp(place, "tcp-untuned", label, ceiling=UNTUNED_CEILING))
        if place.name in ("fatpipe", "room"):
            figures = frozenset({"pingpong", "stream"})
            found.append(PlainTcp(place, TLS, "TCP with TLS", figures=figures, tls=True))
        iperfs = [one for n in _STREAMS if wanted((one := Iperf(place, n)).key)]
        if not iperfs or has_iperf(place):
            found += iperfs
        else:
            say("iperf3 is left out: it is not installed at both ends")
        found += _proxied(place, wanted, say)
    else:
        say("plain TCP and native MPIs cannot get from one cluster to the other here")
        ways, missing = relays(place)
        found += ways
        for kind in missing:
            say(f"relay-{kind} is left out: it is not installed")
    found = [contestant for contestant in found if wanted(contestant.key)]
    natives = mpis.find(options.mpis)
    found += _ours(place, natives, folder, wanted)
    if place.lab and place.open:
        found += _natives(place, natives, wanted, say)
    wanted.check()
    return found


def _beside_proxies(place: Place, wanted: Wanted) -> bool:
    """On `fatpipe` for a limit, in one room if contestants are chosen, for processor time."""
    return place.name == "fatpipe" or (place.name == "room" and wanted.chosen)


def _proxied(place: Place, wanted: Wanted, say: Callable[[str], None]) -> list[Contestant]:
    """Plain TCP over other programs in place of gateways."""
    if not (place.lab and _beside_proxies(place, wanted)):
        return []
    haproxy, stunnel = proxies.HAPROXY, proxies.STUNNEL
    chains = [
        ("haproxy", "plain TCP over two HAProxy", proxies.Chain(place, haproxy)),
        ("stunnel", "plain TCP over two stunnel", proxies.Chain(place, stunnel)),
        (
            "haproxy-throughout",
            "plain TCP over four HAProxy, three TLS legs",
            proxies.Chain(place, haproxy, throughout=True),
        ),
    ]
    made: list[Contestant] = []
    absent = set()
    for key, label, chain in chains:
        if not wanted(key):
            continue
        if chain.tool.installed(proxies.gateways(place)):
            stream = frozenset({"stream"})
            made.append(PlainTcp(place, key, label, figures=stream, way=chain))
        else:
            absent.add(chain.tool.command[0])
    for name in sorted(absent):
        say(f"{name} is left out: it is not installed on both gateways' hosts")
    return made


def _ours(place: Place, natives: Sequence[Mpi], folder: Path, wanted: Wanted) -> list[Contestant]:
    kinds: list[tuple[str, str, Grid, int | None]]
    if place.beside is not None:
        kinds = [(OURS, "Isthmus, inside a cluster", place.grid, None)]
    else:
        kinds = _kinds(place, wanted)
    kinds = [kind for kind in kinds if wanted(kind[0])]
    if not kinds:
        return []
    programs = tuple(_program_of(place, i, natives) for i in (0, 1))
    made: list[Contestant] = []
    for key, label, grid, ceiling in kinds:
        file = folder / f"{key}.toml"
        file.write_text(gridwriting.write(grid))
        made.append(IsthmusRun(place, key, label, file, (programs[0], programs[1]), ceiling))
    return made


def _kinds(place: Place, wanted: Wanted) -> list[tuple[str, str, Grid, int | None]]:
    """Paths between two clusters: key, label, grid, ceiling of socket buffers."""
    kinds: list[tuple[str, str, Grid, int | None]]
    kinds = [(OURS, "Isthmus, gateways", gridfile.reached(place.grid, "gateway"), None)]
    if place.lab and _beside_proxies(place, wanted):
        plain = gridfile.with_plain_legs(kinds[0][2])
        kinds.append((PLAIN_LEGS, "Isthmus, gateways, plain legs in clusters", plain, None))
    if place.name == LOOPBACK:
        kinds.append((MEMORY, "Isthmus, shared memory", place.grid, None))
    if place.lab and place.open:
        kinds.append((UNTUNED, "Isthmus, small buffers", place.grid, UNTUNED_CEILING))
    if place.open:
        kinds.append((DIRECT, "Isthmus, direct", gridfile.reached(place.grid, "direct"), None))
    if place.open and place.name == "room":
        plain = gridfile.reached(place.grid, "direct", encrypt=False)
        kinds.append((PLAIN, "Isthmus, direct, not encrypted", plain, None))
    return kinds


def _program_of(place: Place, part: int, natives: Sequence[Mpi]) -> str:
    """Compiled with the cluster's MPI if the grid file names it, or if the cluster is elsewhere."""
    cluster, _ = place.parts[part]
    if cluster.mpi:
        return prepare(f"{cluster.mpi}/bin/mpicc", cluster.compile_on)
    if cluster.compile_on:
        return prepare("mpicc", cluster.compile_on)
    if not natives:
        return prepare("mpicc")
    return prepare(natives[0].mpicc)


def _natives(
    place: Place,
    natives: Sequence[Mpi],
    wanted: Callable[[str], bool],
    say: Callable[[str], None],
) -> list[Contestant]:
    made: list[Contestant] = []
    for mpi in natives:
        locking = {"threads": threads(mpi)} if place.beside else {}
        for tuning, settings in (tunings(mpi) | locking).items():
            contestant = NativeMpi(place, mpi, "", tuning, settings)
            if not wanted(contestant.key):
                continue
            try:
                program = prepare(mpi.mpicc)
            except IsthmusError as error:
                say(f"{contestant.label} is left out: {error}")
                continue
            made.append(NativeMpi(place, mpi, program, tuning, settings))
    return made


# -- tasks ----------------------------------------------------------------------------------------


def _passes(place: Place, contestant: Contestant, options: Options) -> list[list[Task]]:
    made = _quick(place, contestant) if options.quick else _full(place, contestant, options)
    return [[t for t in tasks_ if _wanted(t, contestant, options)] for tasks_ in made]


def _wanted(task: Task, contestant: Contestant, options: Options) -> bool:
    if task.figure not in contestant.figures:
        return False
    if not options.figures or task.figure in options.figures:
        return True
    # The baseline for a message after a pause.
    pauses = "paused" in options.figures and "paused" in contestant.figures
    return pauses and task in tasks.paused(1)


def _is(contestant: Contestant, *names: str) -> bool:
    return any(contestant.key == name or contestant.key.startswith(f"{name}-") for name in names)


def _full(place: Place, contestant: Contestant, options: Options) -> list[list[Task]]:
    """The papers' sizes and round trips, shared out among the passes."""
    each = max(1, -(-options.rounds // options.passes))
    sizes = list(options.sizes) or tasks.powers_of_two()
    if contestant.ceiling is not None:  # all but Isthmus have a tenth of the rate
        sizes = list(options.sizes) or [LATENCY_BYTES, 64 * KIB, MIB, LARGEST]
        each = max(1, each // 10)
    flows = tasks.flows(2, options.seconds, options.stream_sizes or (tasks.STREAM_BYTES,))
    made = tasks.pingpongs(sizes, each)
    if options.sizes and not options.figures:
        return [made] * options.passes
    if contestant.ceiling is None:
        made += tasks.one_way(options.sizes or (LATENCY_BYTES, MIB), each)
    if contestant.ceiling is None:
        made += [*flows, tasks.loaded()]
        made += tasks.paused(3) if not options.figures or "paused" in options.figures else []
    return [made if place.open or options.figures else flows] * options.passes


def _quick(place: Place, contestant: Contestant) -> list[list[Task]]:
    """Tasks for the limits, within five minutes in all."""
    if _is(contestant, "relay"):
        return []
    if not place.open:
        return [tasks.flows(1, 3.0)[:1]] * 2
    if place.name == LOOPBACK:
        small = tasks.pingpongs([LATENCY_BYTES], 2000)
        return [[*small, *tasks.pingpongs([LARGEST], 3), *tasks.flows(1, 1.0)]] * 5
    if place.name == "room":
        return [[] if contestant.ceiling else tasks.pingpongs(_ROOM_SIZES, 300)] * 3
    if contestant.ceiling is not None:
        wanted = place.name == "hablot" and contestant.key == UNTUNED
        return [tasks.pingpongs([LARGEST], 2)] if wanted else []
    if _is(contestant, "native"):
        if place.name != "hablot":
            return []
        return [
            [
                *tasks.pingpongs([LATENCY_BYTES], _LEAST_OF),
                *tasks.pingpongs([64 * KIB, MIB], _LEAST_OF_LARGER),
                *tasks.pingpongs([LARGEST], 2),
            ]
        ]
    if _is(contestant, *_TOOLS[1:]):
        return [[Task("stream", tasks.STREAM_BYTES, 1, 3.0)]] * 2
    compared = place.name == "hablot" and contestant.key in (OURS, DIRECT)
    small = tasks.pingpongs([LATENCY_BYTES], _LEAST_OF if compared else 25)
    if place.name in _BANDWIDTH_ALONE:
        return [[*small, Task("stream", tasks.STREAM_BYTES, 2, 3.0)]] * 2
    middle = tasks.pingpongs([64 * KIB, 512 * KIB, MIB], _LEAST_OF_LARGER if compared else 8)
    middle += tasks.pingpongs([2 * MIB], 8)
    if place.name != "hablot":
        return [[*small, *middle, *tasks.flows(1, 2.0)]] * 2
    one = [*small, *middle, *tasks.pingpongs([LARGEST], 2), *tasks.flows(1, 2.0)]
    if contestant.key == OURS:
        return [[*one, tasks.loaded(), *tasks.paused(4)], one]
    if contestant.key == DIRECT:
        return [[*one, *tasks.paused(4)]]
    return [one, one] if contestant.key == "tcp" else [one]


def variants(testbed: str, within: str | None = None) -> list[tuple[str, list[str]]]:
    """The labs of a testbed: the name of each variant, and options of `isthmus lab run`."""
    if within is not None:
        return [("", ["--nodes", "2"])]
    if testbed == "zipper":
        counts = (1, 2, 4)
        return [(f"{n} zipper node{'s' if n > 1 else ''}", ["--zippers", str(n)]) for n in counts]
    return [("", ["--nodes", "1"])]
