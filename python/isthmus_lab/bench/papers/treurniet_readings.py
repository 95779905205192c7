"""What the measurements for the Leiden Zipper show: rates, times and pictures, by network."""

from collections.abc import Callable
from pathlib import Path

from isthmus.measuring.tasks import LATENCY_BYTES
from isthmus_lab.bench.app.layouts import ONE, SPLIT
from isthmus_lab.bench.app.results import Cell
from isthmus_lab.bench.coll.results import CollResults
from isthmus_lab.bench.figures import FLOWS, rates, times
from isthmus_lab.bench.limits import DIRECT, OURS
from isthmus_lab.bench.papers.readings import natives
from isthmus_lab.bench.papers.recipe import Measured
from isthmus_lab.measuring.samples import NotMeasuredError, where_measured

# The measurements over one, two and three zipper nodes.
ZIPPERS = {1: "one", 2: "two", 3: "three"}
CLUSTERS = ("das", "lgm")  # measurements inside the clusters of `leiden`
SLOWER = CLUSTERS[1]
_TITLES = {"das": "DAS-4", "lgm": "LGM"}
FORWARDING = "forwarding"  # the measurement in a lab whose zipper node forwards IP
_ONE_NODE = "1 zipper node"


def both_ways(measured: Measured) -> float:
    results = measured.p2p()
    return results.rate(OURS, "bidirectional") / results.rate(OURS, "stream")


def _own_key(measured: Measured, cluster: str) -> str:
    return natives(measured.p2p(cluster))[0]


def own_ways(cluster: str) -> Callable[[Measured], float]:
    """A cluster's own MPI: both ways over one way."""

    def here(measured: Measured) -> float:
        key, results = _own_key(measured, cluster), measured.p2p(cluster)
        return results.rate(key, "bidirectional") / results.rate(key, "stream")

    return here


def own_rate(cluster: str) -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        return 8e-6 * measured.p2p(cluster).rate(_own_key(measured, cluster), "stream")

    return here


def draw_figure_6(measured: Measured, folder: Path) -> list[Path]:
    """Bandwidth one way and both ways, and latency: the bridge and both clusters' own MPI."""
    found = {"Isthmus over the bridge": (measured.p2p(), OURS)}
    for cluster in CLUSTERS:
        label = f"{_TITLES[cluster]}'s own MPI"
        found[label] = (measured.p2p(cluster), _own_key(measured, cluster))
    made: list[Path] = []
    for figure, ways in FLOWS.items():
        curves = {
            label: {size: max(some) for size, some in one.rates_by_size(key, figure).items()}
            for label, (one, key) in found.items()
        }
        made += rates(curves, f"Bandwidth {ways}", folder / f"fig6-{figure}")
    latencies = {
        label: {size: one.one_way(key, size) for size in one.sizes(key)}
        for label, (one, key) in found.items()
    }
    return made + times(latencies, "Latency", folder / "fig6-latency")


def latency(contestant: str, variant: str = "") -> Callable[[Measured], float]:
    """Half of the least round trip, in microseconds; over any number of zipper nodes if no variant
    is given."""

    def here(measured: Measured) -> float:
        times = [
            seconds
            for run in measured.p2p().runs
            if (run.contestant, run.task.figure) == (contestant, "pingpong")
            and variant in ("", run.variant)
            for seconds in run.seconds
        ]
        if not times:
            raise NotMeasuredError("the pingpong was not measured")
        return 1e6 * min(times) / 2

    return here


def over_slower(measured: Measured) -> float:
    """The rate both ways over the bridge, over the slower cluster's own MPI one way."""
    own = measured.p2p(SLOWER).rate(_own_key(measured, SLOWER), "stream")
    return measured.p2p().rate(OURS, "bidirectional") / own


def milliseconds(collective: str) -> Callable[[Measured], float]:
    """At the smallest size, with the most ranks."""

    def here(measured: Measured) -> float:
        results = measured.coll()
        variant = results.runs[-1].variant if results.runs else ""
        sizes = [size for name, size, _ in results.cells(variant) if name == collective]
        if not sizes:
            raise NotMeasuredError(f"{collective} was not measured")
        return 1e3 * results.time(OURS, collective, min(sizes), variant=variant)

    return here


def _inside(results: CollResults, cluster: str) -> str:
    """The MPI of one cluster."""
    own = [key for key in results.measured() if key.startswith(f"inside-{cluster}-")]
    if not own:
        raise NotMeasuredError(f"the MPI inside {cluster} was not measured")
    return own[0]


def tightness(cluster: str = "") -> Callable[[Measured], float]:
    """Milliseconds from the first rank's return from a barrier to the last one's, with the most
    ranks: over the bridge, or by the MPI of one cluster."""

    def here(measured: Measured) -> float:
        results = measured.coll()
        key = _inside(results, cluster) if cluster else OURS
        variant = results.runs[-1].variant if results.runs else ""
        return 1e3 * results.spread(key, "barrier", 0, variant)

    return here


def over_inside(collective: str, cluster: str) -> Callable[[Measured], float]:
    """The time over that of the MPI of one cluster, with as many ranks."""

    def here(measured: Measured) -> float:
        results = measured.coll()
        own = _inside(results, cluster)
        variant = results.runs[-1].variant
        sizes = [size for name, size, _ in results.cells(variant) if name == collective]
        if not sizes:
            raise NotMeasuredError(f"{collective} was not measured")
        alone = results.time(own, collective, min(sizes), variant=variant)
        return 1e-3 * milliseconds(collective)(measured) / alone

    return here


def alltoalls(measured: Measured) -> float:
    """Alltoallv over alltoall, at the smallest size."""
    return milliseconds("alltoallv")(measured) / milliseconds("alltoall")(measured)


def by(contestant: str, figure: str) -> Callable[[Measured], float]:
    """Microseconds one way, or Mbit/s; through one zipper node."""
    if figure == "pingpong":
        return latency(contestant, _ONE_NODE)
    return lambda measured: 8e-6 * measured.p2p().rate(contestant, figure, _ONE_NODE)


def forwarded(contestant: str, figure: str) -> Callable[[Measured], float]:
    """As by, where the zipper node also forwards IP; "native": the best native MPI."""

    def here(measured: Measured) -> float:
        results = measured.p2p(FORWARDING)
        keys = natives(results) if contestant == "native" else [contestant]
        if figure == "pingpong":
            return 1e6 * min(results.one_way(key, LATENCY_BYTES) for key in keys)
        return 8e-6 * max(results.rate(key, figure) for key in keys)

    return here


def by_others(figure: str) -> Callable[[Measured], float]:
    best = min if figure == "pingpong" else max

    def here(measured: Measured) -> float:
        relays = [key for key in measured.p2p().measured() if key.startswith("relay-")]
        found = where_measured(
            relays, lambda key: by(key, figure)(measured), "no relay was measured"
        )
        return best(found.values())

    return here


def over_own(kernel: str, cluster: str) -> Callable[[Measured], float]:
    """The speed over the bridge over that of a cluster's own MPI, with as many ranks."""

    def here(measured: Measured) -> float:
        split, own = measured.app(), measured.app(SLOWER if cluster == SLOWER else "")
        keys = [key for key in own.measured() if key.startswith("native-")]
        for program in own.programs():
            if program.startswith(f"{kernel}."):
                n = min(max(split.numbers()), max(own.numbers()))
                alone = own.best_of(keys, Cell(program, n, ONE))[0]
                return alone / split.best(OURS, Cell(program, n, SPLIT))
        raise NotMeasuredError(f"{kernel} was not measured")

    return here


def gateways_take(figure: str, size: int, unit: float) -> Callable[[Measured], float]:
    """The processor time of both gateways for a message, by `unit`."""

    def here(measured: Measured) -> float:
        results = measured.cost()
        work = results.work(figure, size)
        found = unit * (results.processor(OURS, work) - results.processor(DIRECT, work))
        if found <= 0:
            raise NotMeasuredError("less by gateways than directly: only noise")
        return found

    return here


def over_zippers(number: int) -> Callable[[Measured], float]:
    return lambda measured: 1e6 * measured.p2p(ZIPPERS[number]).one_way(OURS, LATENCY_BYTES)


def each_zipper(measured: Measured) -> float:
    first, *_, last = (over_zippers(number)(measured) for number in ZIPPERS)
    return (last - first) / (len(ZIPPERS) - 1)


def draw_zippers(measured: Measured, folder: Path) -> list[Path]:
    curves = {}
    for number, name in ZIPPERS.items():
        found = measured.p2p(name)
        label = f"{number} zipper node{'s' if number > 1 else ''}"
        found.one_way(OURS, LATENCY_BYTES)  # raises if nothing was measured
        curves[label] = {size: found.one_way(OURS, size) for size in found.sizes(OURS)}
    return times(curves, "Latency over several zipper nodes", folder / "zippers")
