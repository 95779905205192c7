"""Treurniet, The Leiden Zipper, a bridging architecture, Leiden University."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from isthmus.measuring.tasks import GIGABYTE, LARGEST, LATENCY_BYTES
from isthmus_lab.bench.app.layouts import ONE, SPLIT
from isthmus_lab.bench.app.results import Cell
from isthmus_lab.bench.coll.results import CollResults
from isthmus_lab.bench.figures import FLOWS, rates, times
from isthmus_lab.bench.limits import DIRECT, OURS, TCP
from isthmus_lab.bench.papers.readings import gain, natives, only, repeated
from isthmus_lab.bench.papers.recipe import Claim, Measured, Measurement, Paper, Recipe
from isthmus_lab.measuring.samples import NotMeasuredError

PAPER = Paper("treurniet", "Treurniet, The Leiden Zipper, a bridging architecture")

_COLLECTIVES = ("barrier", "bcast", "alltoall", "alltoallv", "reduce", "allreduce")
_KERNELS = ("ep", "mg", "cg", "is", "lu")
_ONE_NODE = "1 zipper node"


def _both_ways(measured: Measured) -> float:
    results = measured.p2p()
    return results.rate(OURS, "bidirectional") / results.rate(OURS, "stream")


def _own_key(measured: Measured, cluster: str) -> str:
    return natives(measured.p2p(cluster))[0]


def _own_ways(cluster: str) -> Callable[[Measured], float]:
    """A cluster's own MPI: both ways over one way."""

    def here(measured: Measured) -> float:
        key, results = _own_key(measured, cluster), measured.p2p(cluster)
        return results.rate(key, "bidirectional") / results.rate(key, "stream")

    return here


def _own_rate(cluster: str) -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        return 8e-6 * measured.p2p(cluster).rate(_own_key(measured, cluster), "stream")

    return here


def _draw_figure_6(measured: Measured, folder: Path) -> list[Path]:
    """Bandwidth one way and both ways, and latency: the bridge and both clusters' own MPI."""
    found = {"Isthmus over the bridge": (measured.p2p(), OURS)}
    for cluster in _CLUSTERS:
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


def _latency(contestant: str, variant: str = "") -> Callable[[Measured], float]:
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


def _over_slower(measured: Measured) -> float:
    """The rate both ways over the bridge, over the slower cluster's own MPI one way."""
    own = measured.p2p(_SLOWER).rate(_own_key(measured, _SLOWER), "stream")
    return measured.p2p().rate(OURS, "bidirectional") / own


def _milliseconds(collective: str) -> Callable[[Measured], float]:
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


def _tightness(cluster: str = "") -> Callable[[Measured], float]:
    """Milliseconds from the first rank's return from a barrier to the last one's, with the most
    ranks: over the bridge, or by the MPI of one cluster."""

    def here(measured: Measured) -> float:
        results = measured.coll()
        key = _inside(results, cluster) if cluster else OURS
        variant = results.runs[-1].variant if results.runs else ""
        return 1e3 * results.spread(key, "barrier", 0, variant)

    return here


def _over_inside(collective: str, cluster: str) -> Callable[[Measured], float]:
    """The time over that of the MPI of one cluster, with as many ranks."""

    def here(measured: Measured) -> float:
        results = measured.coll()
        own = _inside(results, cluster)
        variant = results.runs[-1].variant
        sizes = [size for name, size, _ in results.cells(variant) if name == collective]
        if not sizes:
            raise NotMeasuredError(f"{collective} was not measured")
        alone = results.time(own, collective, min(sizes), variant=variant)
        return 1e-3 * _milliseconds(collective)(measured) / alone

    return here


def _alltoalls(measured: Measured) -> float:
    """Alltoallv over alltoall, at the smallest size."""
    return _milliseconds("alltoallv")(measured) / _milliseconds("alltoall")(measured)


def _by(contestant: str, figure: str) -> Callable[[Measured], float]:
    """Microseconds one way, or Mbit/s; through one zipper node."""
    if figure == "pingpong":
        return _latency(contestant, _ONE_NODE)
    return lambda measured: 8e-6 * measured.p2p().rate(contestant, figure, _ONE_NODE)


def _forwarded(contestant: str, figure: str) -> Callable[[Measured], float]:
    """As _by, where the zipper node also forwards IP; "native": the best native MPI."""

    def here(measured: Measured) -> float:
        results = measured.p2p(_FORWARDING)
        keys = natives(results) if contestant == "native" else [contestant]
        if figure == "pingpong":
            return 1e6 * min(results.one_way(key, LATENCY_BYTES) for key in keys)
        return 8e-6 * max(results.rate(key, figure) for key in keys)

    return here


def _by_others(figure: str) -> Callable[[Measured], float]:
    best = min if figure == "pingpong" else max

    def here(measured: Measured) -> float:
        found = []
        for key in measured.p2p().measured():
            if key.startswith("relay-"):
                with contextlib.suppress(NotMeasuredError):
                    found.append(_by(key, figure)(measured))
        if not found:
            raise NotMeasuredError("no relay was measured")
        return best(found)

    return here


def _over_own(kernel: str, cluster: str) -> Callable[[Measured], float]:
    """The speed over the bridge over that of a cluster's own MPI, with as many ranks."""

    def here(measured: Measured) -> float:
        split, own = measured.app(), measured.app(_SLOWER if cluster == _SLOWER else "")
        keys = [key for key in own.measured() if key.startswith("native-")]
        for program in own.programs():
            if program.startswith(f"{kernel}."):
                n = min(max(split.numbers()), max(own.numbers()))
                alone = own.best_of(keys, Cell(program, n, ONE))[0]
                return alone / split.best(OURS, Cell(program, n, SPLIT))
        raise NotMeasuredError(f"{kernel} was not measured")

    return here


def _gateways_take(figure: str, size: int, unit: float) -> Callable[[Measured], float]:
    """The processor time of both gateways for a message, by `unit`."""

    def here(measured: Measured) -> float:
        results = measured.cost()
        work = results.work(figure, size)
        found = unit * (results.processor(OURS, work) - results.processor(DIRECT, work))
        if found <= 0:
            raise NotMeasuredError("less by gateways than directly: only noise")
        return found

    return here


def _over_zippers(number: int) -> Callable[[Measured], float]:
    return lambda measured: 1e6 * measured.p2p(_ZIPPERS[number]).one_way(OURS, LATENCY_BYTES)


def _each_zipper(measured: Measured) -> float:
    first, *_, last = (_over_zippers(number)(measured) for number in _ZIPPERS)
    return (last - first) / (len(_ZIPPERS) - 1)


def _draw_zippers(measured: Measured, folder: Path) -> list[Path]:
    curves = {}
    for number, name in _ZIPPERS.items():
        found = measured.p2p(name)
        label = f"{number} zipper node{'s' if number > 1 else ''}"
        found.one_way(OURS, LATENCY_BYTES)  # raises if nothing was measured
        curves[label] = {size: found.one_way(OURS, size) for size in found.sizes(OURS)}
    return times(curves, "Latency over several zipper nodes", folder / "zippers")


# The measurements over one, two and three zipper nodes.
_ZIPPERS = {1: "one", 2: "two", 3: "three"}
_CLUSTERS = ("das", "lgm")  # measurements inside the clusters of `leiden`
_SLOWER = _CLUSTERS[1]
_TITLES = {"das": "DAS-4", "lgm": "LGM"}
_FORWARDING = "forwarding"  # the measurement in a lab whose zipper node forwards IP
_ONE_ZIPPER = ("--testbed=leiden", "--set=zipper.nodes=1")
_CURVES = (
    *_ONE_ZIPPER,
    *repeated("--figure", ("pingpong", "stream", "bidirectional")),
    "--native=openmpi",
)
_SIZES_6 = tuple(f"{1 << k} B" for k in range(0, 23, 2))  # 1 B to 4 MiB, as in the thesis
_CURVE_SIZES = (*repeated("--size", _SIZES_6), *repeated("--stream-size", _SIZES_6))
_FEW = ("8 B", "1 KiB", "16 KiB", "256 KiB", "1 MiB")
_QUICK_SIZES = (
    *(*repeated("--size", _FEW), *repeated("--stream-size", _FEW[1:])),
    *("--rounds=20", "--passes=1", "--seconds=0.5"),
)


def _curves(*words: str) -> Measurement:
    return Measurement(
        "p2p",
        (*_CURVES, *words, *_CURVE_SIZES, "--rounds=100", "--passes=2", "--seconds=1"),
        (*_CURVES, *words, *_QUICK_SIZES),
    )


_FLOWS = (
    *("--testbed", "zipper", "--size", "8 B"),
    *repeated("--figure", ("pingpong", "stream", "bidirectional")),
)
_OTHERS = (*_FLOWS, *only(OURS, "relay-*"))
_FORWARDED = (
    *(*_ONE_ZIPPER, "--set=zipper.forward=yes", "--size", "8 B"),
    *repeated("--figure", ("pingpong", "stream", "bidirectional")),
    *only(TCP, OURS, "native-*-default"),
)
_ZIPPER = (
    *("--testbed=leiden", "--equally", "--native=openmpi", *only(OURS, "inside-*")),
    *repeated("--collective", _COLLECTIVES),
)
_LEIDEN = ("--testbed", "leiden", "--native=openmpi", *only(OURS, "native-*-default"))
_LGM = (
    *("--testbed=leiden", "--native=openmpi", *only("native-*-default")),
    *("--site=lgm", "--layout=one-site", *repeated("--kernel", _KERNELS)),
)
_BRIDGED = repeated("--layout", ("split", "one-site"))
_ROW = ("--testbed=zippers", "--figure=pingpong", *only(OURS))
_SOME = (*repeated("--size", _FEW), "--rounds=60", "--passes=2")
_ROOM = ("--testbed=room", *only(OURS, DIRECT))
_FIVE = (*_LEIDEN, *_BRIDGED, *repeated("--kernel", _KERNELS))
_LARGE = "large"  # the measurement of larger problems

RECIPES = (
    Recipe(
        "treurniet-fig6",
        PAPER,
        "Figure 6",
        "bandwidth, bi-directional bandwidth and latency of the bridge and of both clusters' own "
        "MPI",
        {
            "": _curves(*only(OURS)),
            **{
                cluster: _curves(f"--within={cluster}", *only("native-*-default"))
                for cluster in _CLUSTERS
            },
        },
        (
            Claim("both ways over one way (its forwarder is half duplex)", 1, _both_ways, "",
                  "at least"),
            Claim("both ways over the bridge, over LGM's own one way (550 of 780 MB/s there)",
                  0.705, _over_slower, "", "at least"),
            Claim("DAS-4's own: both ways over one way", 2, _own_ways("das")),
            Claim("LGM's own: both ways over one way", 2, _own_ways("lgm")),
            Claim("DAS-4's own, one way, a hundredth of 3500 MB/s", 280, _own_rate("das"),
                  "Mbit/s"),
            Claim("LGM's own, one way, a hundredth of 780 MB/s", 62.4, _own_rate("lgm"), "Mbit/s"),
            Claim("latency of 8 B over the bridge", None, _latency(OURS), "us"),
        ),
        "Rates are a hundredth of the thesis's InfiniBand, by TCP. Open MPI in both clusters, as "
        "there. A message that fits the burst of a node's link takes no time on it (docs/lab.md).",
        _draw_figure_6,
    ),
    Recipe(
        "treurniet-others",
        PAPER,
        "Future work",
        "other ways over the same bridge beside Isthmus: TCP by HAProxy, socat, an ssh tunnel; "
        "native MPIs by IP forwarding",
        {
            "": Measurement.shortened(
                "p2p", _OTHERS, ("--passes=1", "--seconds=1", "--rounds=60")
            ),
            _FORWARDING: Measurement.shortened(
                "p2p", _FORWARDED, ("--passes=2", "--seconds=1", "--rounds=200")
            ),
        },
        (
            Claim("latency of 8 B, Isthmus", None, _by(OURS, "pingpong"), "us"),
            Claim("latency of 8 B, the best other way", None, _by_others("pingpong"), "us"),
            Claim("one way, Isthmus", None, _by(OURS, "stream"), "Mbit/s"),
            Claim("one way, the best other way", None, _by_others("stream"), "Mbit/s"),
            Claim("both ways, Isthmus", None, _by(OURS, "bidirectional"), "Mbit/s"),
            Claim("both ways, the best other way", None, _by_others("bidirectional"), "Mbit/s"),
            *(
                Claim(f"IP forwarding: {what}, {label}", None, _forwarded(key, figure), unit)
                for figure, what, unit in (
                    ("pingpong", "latency of 8 B", "us"),
                    ("stream", "one way", "Mbit/s"),
                    ("bidirectional", "both ways", "Mbit/s"),
                )
                for key, label in (
                    (OURS, "Isthmus by its gateway"),
                    ("native", "the best native MPI"),
                    (TCP, "TCP"),
                )
            ),
        ),
        "By one zipper node. The relays that are installed take part, each with one TCP "
        "connection; Isthmus has a rank on each node. The contestants with IP forwarding have one "
        "pair of ranks on `leiden`. RDMA over Ethernet, which the thesis names too, needs its "
        "adapters.",
    ),
    Recipe(
        "treurniet-fig7-17",
        PAPER,
        "Figures 7 to 17",
        "collectives over the bridge, over the size and the number of processes",
        {
            "": Measurement(
                "coll", (*_ZIPPER, "-n", "2,4,8,16,32"),
                (*_ZIPPER, "-n", "2,4", *repeated("--size", ("8 B", "4 KiB")), "--no-tune",
                 "--repetitions=4", "--passes=1"),
            )
        },
        (
            *(Claim(f"{name}, the least size", None, _milliseconds(name), "ms")
              for name in _COLLECTIVES),
            *(Claim(f"{name}: over {cluster}'s own MPI", None, _over_inside(name, cluster))
              for name in _COLLECTIVES for cluster in _CLUSTERS),
            Claim("alltoallv over alltoall", 1, _alltoalls),
            Claim("barrier: from the first rank's return to the last's", None, _tightness(), "ms"),
            *(Claim(f"the same of {cluster}'s own MPI", None, _tightness(cluster), "ms")
              for cluster in _CLUSTERS),
        ),
        "Beside both clusters' own MPI, as there, with as many processes inside each. Up to 32 "
        "processes (quick: 4), which share the host's processors.",
    ),
    Recipe(
        "treurniet-zippers",
        PAPER,
        "Section 2.1",
        "latency over one, two and three zipper nodes, as in a tree of them",
        {
            name: Measurement.shortened("p2p", (*_ROW, f"--between=a,{far}"), _SOME)
            for name, far in zip(_ZIPPERS.values(), "bcd", strict=True)
        },
        (
            *(Claim(f"latency of 8 B over {name}", None, _over_zippers(number), "us")
              for number, name in _ZIPPERS.items()),
            Claim("each further zipper node adds", None, _each_zipper, "us"),
        ),
        "The thesis says, without numbers, that the zipper nodes between two clusters grow as the "
        "logarithm of the number of clusters. If each adds the same, the latency does, too.",
        _draw_zippers,
    ),
    Recipe(
        "treurniet-forwarder",
        PAPER,
        "Section 3.1",
        "what forwarding takes from ranks on the forwarder's node: processor time",
        {
            "": Measurement.shortened("cost", _ROOM, ("--passes=1", "--scale=0.5"))
        },
        (
            Claim("8 B: both gateways, each message", None,
                  _gateways_take("pingpong", LATENCY_BYTES, 1e6), "us"),
            Claim("64 MiB: both gateways, each gigabyte", None,
                  _gateways_take("stream", LARGEST, GIGABYTE / LARGEST), "s"),
            Claim("cores that both take at 1 Gbit/s", None,
                  _gateways_take("stream", LARGEST, 0.125 * GIGABYTE / LARGEST)),
        ),
        "The numbers are the processor time of all processes, by gateways minus directly. The "
        "thesis has a node for the forwarder, and no number.",
    ),
    Recipe(
        "treurniet-fig18-22",
        PAPER,
        "Figures 18 to 22",
        "NAS kernels over the bridge against one cluster alone",
        {
            "": Measurement(
                "app",
                (*_FIVE, "-n", "2,4,8,16", "--class=W", "--repetitions=3"),
                (*_FIVE, "-n", "4", "--class=S", "--repetitions=1", "--no-tune"),
            ),
            _LARGE: Measurement(
                "app",
                (*_FIVE, "-n", "16", "--class=A", "--repetitions=1"),
                (*_LEIDEN, *_BRIDGED, "-n", "4", "--class=A", "--kernel=is", "--kernel=mg",
                 "--repetitions=1", "--no-tune"),
            ),
            _SLOWER: Measurement(
                "app",
                (*_LGM, "-n", "2,4,8", "--class=W", "--repetitions=3"),
                (*_LGM, "-n", "4", "--class=S", "--repetitions=1", "--no-tune"),
            ),
        },
        (
            *(Claim(f"{kernel.upper()}: speed of split over one cluster", None,
                    gain(OURS, kernel, ONE))
              for kernel in _KERNELS),
            *(Claim(f"{kernel.upper()}: speed of split over {cluster}'s own MPI", None,
                    _over_own(kernel, cluster))
              for kernel in _KERNELS for cluster in _CLUSTERS),
            *(Claim(f"{kernel.upper()}, class A: the same", None, gain(OURS, kernel, ONE, _LARGE))
              for kernel in ("mg", "is")),
        ),
        "Classes W and A on up to 16 ranks, where the thesis has C on up to 64 with a processor "
        "for each; rates are a hundredth of its.",
    ),
)  # fmt: skip
