"""Treurniet, The Leiden Zipper, a bridging architecture, Leiden University."""

import contextlib
from collections.abc import Callable

from isthmus_lab.bench.app.layouts import ONE
from isthmus_lab.bench.limits import OURS
from isthmus_lab.bench.papers.readings import gain, natives, only, repeated
from isthmus_lab.bench.papers.recipe import Claim, Measured, Measurement, Paper, Recipe
from isthmus_lab.measuring.samples import NotMeasuredError

PAPER = Paper("treurniet", "Treurniet, The Leiden Zipper, a bridging architecture")

_COLLECTIVES = ("barrier", "bcast", "alltoall", "alltoallv", "reduce", "allreduce")
_KERNELS = ("ep", "mg", "cg", "is", "lu")
_ONE_NODE = "1 zipper node"


def _both_ways(measured: Measured) -> float:
    results = measured.p2p()
    one = results.rate(OURS, "stream", _ONE_NODE)
    return results.rate(OURS, "bidirectional", _ONE_NODE) / one


def _more_nodes(measured: Measured) -> float:
    results = measured.p2p()
    one = results.rate(OURS, "stream", _ONE_NODE)
    return results.rate(OURS, "stream", "2 zipper nodes") / one


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
    """The rate over the bridge, over that of the slower cluster's own native MPI."""
    own = measured.p2p(_OWN)
    best = max(own.rate(key, "stream") for key in natives(own))
    return measured.p2p().rate(OURS, "stream", _ONE_NODE) / best


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


def _alltoalls(measured: Measured) -> float:
    """Alltoallv over alltoall, at the smallest size."""
    return _milliseconds("alltoallv")(measured) / _milliseconds("alltoall")(measured)


def _by(contestant: str, figure: str) -> Callable[[Measured], float]:
    """Microseconds one way, or Mbit/s; through one zipper node."""
    if figure == "pingpong":
        return _latency(contestant, _ONE_NODE)
    return lambda measured: 8e-6 * measured.p2p().rate(contestant, figure, _ONE_NODE)


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


_OWN = "own"  # the measurement inside one of the clusters
_FLOWS = (
    *("--testbed", "zipper", "--size", "8 B"),
    *repeated("--figure", ("pingpong", "stream", "bidirectional")),
)
_OTHERS = (*_FLOWS, *only(OURS, "relay-*"))
_INSIDE = (
    *("--testbed=zipper", "--within=a", "--figure=stream"),
    *only(OURS, "native-*-default"),
)
_ZIPPER = (
    *("--testbed", "zipper", "--equally", *only(OURS)),
    *repeated("--collective", _COLLECTIVES),
)
_LEIDEN = ("--testbed", "leiden", *only(OURS))
_BRIDGED = repeated("--layout", ("split", "one-site"))
_FIVE = (*_LEIDEN, *_BRIDGED, *repeated("--kernel", _KERNELS))
_LARGE = "large"  # the measurement of larger problems

RECIPES = (
    Recipe(
        "treurniet-fig6",
        PAPER,
        "Figure 6",
        "bandwidth and bi-directional bandwidth over the bridge",
        {
            "": Measurement("p2p", _FLOWS, (*_FLOWS, "--passes=1", "--seconds=1")),
            _OWN: Measurement("p2p", _INSIDE, (*_INSIDE, "--passes=1", "--seconds=1")),
        },
        (
            Claim("both ways over one way (its forwarder is half duplex)", 1, _both_ways, "",
                  "at least"),
            Claim("latency of 8 B over the bridge", None, _latency(OURS), "us"),
            Claim("two zipper nodes over one (future work there)", None, _more_nodes),
            Claim("one zipper node over a cluster's own MPI", None, _over_slower),
        ),
    ),
    Recipe(
        "treurniet-others",
        PAPER,
        "Future work",
        "other ways over the same bridge beside Isthmus: TCP by HAProxy, socat, an ssh tunnel",
        {
            "": Measurement("p2p", _OTHERS, (*_OTHERS, "--passes=1", "--seconds=1", "--rounds=60"))
        },
        (
            Claim("latency of 8 B, Isthmus", None, _by(OURS, "pingpong"), "us"),
            Claim("latency of 8 B, the best other way", None, _by_others("pingpong"), "us"),
            Claim("one way, Isthmus", None, _by(OURS, "stream"), "Mbit/s"),
            Claim("one way, the best other way", None, _by_others("stream"), "Mbit/s"),
            Claim("both ways, Isthmus", None, _by(OURS, "bidirectional"), "Mbit/s"),
            Claim("both ways, the best other way", None, _by_others("bidirectional"), "Mbit/s"),
        ),
        "By one zipper node. The relays that are installed take part, each with one TCP "
        "connection; Isthmus has a rank on each node.",
    ),
    Recipe(
        "treurniet-fig7-17",
        PAPER,
        "Figures 7 to 17",
        "collectives over the bridge, over the size and the number of processes",
        {
            "": Measurement(
                "coll", (*_ZIPPER, "-n", "2,4,8"),
                (*_ZIPPER, "-n", "2,4", *repeated("--size", ("8 B", "4 KiB")), "--no-tune",
                 "--repetitions=4", "--passes=1"),
            )
        },
        (
            *(Claim(f"{name}, the least size", None, _milliseconds(name), "ms")
              for name in _COLLECTIVES),
            Claim("alltoallv over alltoall", 1, _alltoalls),
        ),
        "Up to 8 processes, where the thesis has 32. Its InfiniBand's times say nothing here.",
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
        },
        (
            *(Claim(f"{kernel.upper()}: speed of split over one cluster",
                    1 if kernel == "ep" else None, gain(OURS, kernel, ONE))
              for kernel in _KERNELS),
            *(Claim(f"{kernel.upper()}, class A: the same", None, gain(OURS, kernel, ONE, _LARGE))
              for kernel in ("mg", "is")),
        ),
        "Classes W and A on up to 16 ranks, where the thesis has C on up to 64 with a processor "
        "for each; rates are a hundredth of its.",
    ),
)  # fmt: skip
