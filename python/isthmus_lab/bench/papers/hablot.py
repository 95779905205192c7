"""Hablot et al., Comparison and tuning of MPI implementations in a grid context, CLUSTER 2007."""

from collections.abc import Callable

from isthmus.measuring.tasks import LATENCY_BYTES, PAUSED_BYTES
from isthmus_lab.bench.app.layouts import ONE, QUARTER
from isthmus_lab.bench.limits import DIRECT, OURS, TCP
from isthmus_lab.bench.papers.readings import (
    as_fast,
    best_native,
    gain,
    mean_over_native,
    natives,
    noise_of,
    only,
    repeated,
)
from isthmus_lab.bench.papers.recipe import Claim, Measured, Measurement, Paper, Recipe
from isthmus_lab.measuring.results import half_bandwidth_size
from isthmus_lab.measuring.samples import NotMeasuredError, where_measured

PAPER = Paper(
    "hablot", "Hablot et al. 2007, Comparison and tuning of MPI implementations in a grid"
)

_MEGABITS = 8e-6
_KERNELS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
_BY_CHANCE = 1.15


def _sizes(*sizes: str) -> tuple[str, ...]:
    return repeated("--size", sizes)


# -- Table IV and Figures 3 and 4: pingpongs ------------------------------------------------------


def _latency(contestant: str, where: str = "") -> Callable[[Measured], float]:
    return lambda measured: 1e6 * measured.p2p(where).one_way(contestant, LATENCY_BYTES)


def _added(contestant: str, where: str = "") -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        return _latency(contestant, where)(measured) - _latency(TCP, where)(measured)

    return here


def _added_by(family: str, where: str = "") -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        key = best_native(measured.p2p(where), family)
        return _latency(key, where)(measured) - _latency(TCP, where)(measured)

    return here


def _noise_by(family: str, where: str = "") -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        key = best_native(measured.p2p(where), family)
        return noise_of(key, TCP, where=where)(measured)

    return here


def _best(contestant: str) -> Callable[[Measured], float]:
    return lambda measured: _MEGABITS * measured.p2p().best_bandwidth(contestant)


def _best_of_natives(measured: Measured) -> float:
    results = measured.p2p()
    return _MEGABITS * max(results.best_bandwidth(key) for key in natives(results))


def _half(contestant: str, unit: float) -> Callable[[Measured], float]:
    """The size with half of the contestant's best bandwidth; `unit` in bytes."""

    def here(measured: Measured) -> float:
        results = measured.p2p()
        return half_bandwidth_size(results, contestant, results.best_bandwidth(contestant)) / unit

    return here


def _paused(contestant: str, size: int) -> Callable[[Measured], float]:
    return lambda measured: measured.p2p().paused(contestant, size)


_IN = "inside"  # the measurement in one cluster
_HABLOT = ("--testbed", "hablot")
_LATENCY = Measurement.shortened(
    "p2p",
    (*_HABLOT, *_sizes("8 B"), *only(TCP, OURS, DIRECT, "native-*-default")),
    ("--rounds=60", "--passes=2"),
)
_LATENCY_INSIDE = Measurement.shortened(
    "p2p",
    (*_HABLOT, "--within=a", *_sizes("8 B"), *only(TCP, OURS, "native-*-default")),
    ("--rounds=200", "--passes=2"),
)
# The paper's link between two nodes of one site, where TCP takes 41 us. Only a WAN box delays, and
# sends every packet by itself; so the nodes stand in two sites.
_WIRE = (*_HABLOT, "--set", "wan.delay=0.01 ms")
_ON_THE_WIRE = only(TCP, DIRECT, "native-*-default")
_CURVE_INSIDE = Measurement(
    "p2p",
    (*_WIRE, "--figure=pingpong", *_ON_THE_WIRE, "--rounds=50"),
    (
        *_WIRE,
        *_sizes("1 KiB", "4 KiB", "8 KiB", "16 KiB", "64 KiB", "128 KiB", "1 MiB", "16 MiB"),
        *(*_ON_THE_WIRE, "--rounds=20", "--passes=2"),
    ),
)
# The limit of socket buffers in default kernels.
_DEFAULT_WORDS = (
    *(*_HABLOT, "--set", "tcp.buffer=208 KiB"),
    *only(TCP, OURS, "native-*-default"),
)
_DEFAULT = Measurement(
    "p2p",
    (
        *(*_DEFAULT_WORDS, "--rounds=40", "--passes=2"),
        *_sizes("8 B", "1 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "64 MiB"),
    ),
    (*_DEFAULT_WORDS, *_sizes("64 KiB", "1 MiB", "8 MiB"), "--rounds=2", "--passes=1"),
)
_TUNED_CURVE = Measurement(
    "p2p",
    (*_HABLOT, "--figure=pingpong", *only(TCP, OURS, DIRECT, "native-*-tuned"), "--rounds=50"),
    (
        *(*_HABLOT, *_sizes("8 B", "64 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "64 MiB")),
        *(*only(TCP, OURS, "native-*-tuned"), "--rounds=4", "--passes=1"),
    ),
)
_PAUSES = Measurement(
    "p2p",
    (*_HABLOT, "--figure=paused", *only(OURS, DIRECT, "native-*-default"), "--passes=3"),
    (*_HABLOT, "--figure=paused", *only(OURS, DIRECT), "--passes=1"),
)
# New connections, whose first messages the pictures of the wide area show.
_BEGUN_WORDS = (*_HABLOT, *_sizes("4 MiB"), "--rounds=2", "--passes=1", "--traffic")
_BEGUN = Measurement(
    "p2p",
    (*_BEGUN_WORDS, *only(TCP, OURS, DIRECT, "native-*-default")),
    (*_BEGUN_WORDS, *only(TCP, OURS, DIRECT)),
)

_KERNEL = (
    *(*_HABLOT, "-n", "4", "--kernel=ft", "--class=W", "--layout=split", "--native=openmpi"),
    *(*only(DIRECT, "native-*-default"), "--repetitions=1", "--no-tune", "--traffic"),
)


def _sent_again(measured: Measured) -> float:
    return float(measured.app("kernel").sent_again(DIRECT))


def _native_sent_again(measured: Measured) -> float:
    results = measured.app("kernel")
    return float(results.sent_again(natives(results)[0]))


# -- Figures 5 to 7: kernels ----------------------------------------------------------------------


def _bear_it(measured: Measured) -> float:
    """Kernels that lose less than 20 % when split over the wide area. One that gains much by that
    shows that the executions differ by chance, so that nothing can be said."""
    gains = where_measured(
        _KERNELS,
        lambda kernel: gain(DIRECT, kernel, ONE)(measured),
        "no kernel was measured",
    )
    for kernel, times_as_fast in gains.items():
        if times_as_fast > _BY_CHANCE:
            raise NotMeasuredError(
                f"{kernel} was {times_as_fast:.2f} times as fast when split: only noise"
            )
    return float(sum(times_as_fast > 1 / 1.2 for times_as_fast in gains.values()))


def _finished(measured: Measured) -> float:
    """The number of kernels of the paper that ran to their end, with verified results."""
    done = {program.split(".")[0] for program in measured.app().programs()}
    if not done:
        raise NotMeasuredError("no kernel was measured")
    return float(len(done & set(_KERNELS)))


_APPS = ("--testbed", "hablot16")
_MPIS = ("--native=mpich", "--native=openmpi")  # the first is the reference, as in the paper
_COMPARED = Measurement(
    "app",
    (
        *(*_APPS, *_MPIS, "-n", "16", "--class=W", "--layout=split", "--repetitions=5"),
        *only(DIRECT, "isthmus", "native-*-default"),
    ),
    (
        *(*_APPS, *_MPIS, "-n", "8", "--layout=split", "--repetitions=1", "--no-tune"),
        *only(DIRECT, "native-*-default"),
    ),
)
_BELOW = ("--layout=one-site", "--layout=split", "--layout=quarter-site")
_PROGRAMS = Measurement(
    "app",
    (*_APPS, "-n", "16", "--class=W", *_BELOW, *only(DIRECT, "isthmus"), "--repetitions=5"),
    (*_APPS, "-n", "8", *_BELOW, *only(DIRECT), "--repetitions=1", "--no-tune"),
)

RECIPES = (
    Recipe(
        "hablot-table4",
        PAPER,
        "Table IV",
        "what MPI adds to TCP's latency over the wide area",
        {"": _LATENCY, _IN: _LATENCY_INSIDE},
        (
            Claim("TCP, one way", 5812, _latency(TCP), "us"),
            Claim("MPICH2 adds; here Isthmus, direct", 6, _added(DIRECT), "us", "at most",
                  noise_of(DIRECT, TCP)),
            Claim(
                "MPICH-Madeleine adds; here Isthmus, two gateways",
                14, _added(OURS), "us", "at most", noise_of(OURS, TCP),
            ),
            Claim("MPICH2 adds; here MPICH", 6, _added_by("mpich"), "us", "", _noise_by("mpich")),
            Claim("Open MPI adds", 8, _added_by("openmpi"), "us", "", _noise_by("openmpi")),
            Claim("in one cluster: TCP, one way", 41, _latency(TCP, _IN), "us"),
            Claim("in one cluster: MPICH2 adds; here Isthmus", 5, _added(OURS, _IN), "us"),
            Claim("in one cluster: MPICH2 adds; here MPICH", 5, _added_by("mpich", _IN), "us", "",
                  _noise_by("mpich", _IN)),
            Claim("in one cluster: Open MPI adds", 5, _added_by("openmpi", _IN), "us", "",
                  _noise_by("openmpi", _IN)),
        ),
        "The nodes are of one host, where TCP between two takes 10 to 20 us. Native ranks poll, "
        "so inside a cluster they may take less than TCP, whose ends sleep. The paper also has "
        "YAMPII (7 us more than TCP over the wide area, 5 inside), which is not packaged, and "
        "MPICH-Madeleine inside a cluster (21).",
    ),
    Recipe(
        "hablot-fig2",
        PAPER,
        "Figure 2",
        "bandwidth in one cluster",
        {"": _CURVE_INSIDE},
        (
            Claim("TCP's best", 940, _best(TCP), "Mbit/s"),
            Claim("every MPI's; here Isthmus's, direct", 940, _best(DIRECT), "Mbit/s"),
            Claim("every MPI's; here the best native's", 940, _best_of_natives, "Mbit/s"),
            Claim("half of it is reached at; here by TCP", 8, _half(TCP, 1e3), "kB"),
            Claim("the same; here by Isthmus, direct", 8, _half(DIRECT, 1e3), "kB"),
        ),
        "The two nodes stand in two sites with the paper's link between them: 1 Gbit/s and some "
        "41 us. Isthmus takes the sites for clusters. Inside a cluster messages go by its own MPI, "
        "whose curve is drawn.",
    ),
    Recipe(
        "hablot-fig3",
        PAPER,
        "Figure 3",
        "bandwidth over the wide area, kernels as they come",
        {"": _DEFAULT},
        (
            Claim("nobody's is above; here TCP's best", 120, _best(TCP), "Mbit/s"),
            Claim("nobody's is above; here Isthmus's", 120, _best(OURS), "Mbit/s", "at least"),
            Claim("nobody's is above; here the best native's", 120, _best_of_natives, "Mbit/s"),
        ),
        "Socket buffers grow to at most 208 KiB, the limit of kernels as they come. A native MPI "
        "that sets its buffers itself has the host's limit.",
    ),
    Recipe(
        "hablot-fig4",
        PAPER,
        "Figure 4",
        "bandwidth over the wide area, tuned as the paper says; Isthmus as it comes",
        {"": _TUNED_CURVE},
        (
            Claim("the best MPI's; here Isthmus's", 910, _best(OURS), "Mbit/s", "at least"),
            Claim("half of it is reached at", 1, _half(OURS, 1e6), "MB", "at most"),
            Claim("the best MPI's; here the best native's", 910, _best_of_natives, "Mbit/s"),
        ),
    ),
    Recipe(
        "hablot-fig5",
        PAPER,
        "Figure 5",
        "the NAS kernels on 8 + 8 nodes, MPIs compared",
        {"": _COMPARED},
        (
            Claim("kernels that end (BT and SP did not with Madeleine)", 8, _finished,
                  sense="at least"),
            Claim("kernels at most 1.02 times the best native MPI's time", None, as_fast),
            Claim("time over the best native MPI's, geometric mean", None, mean_over_native),
        ),
        "Classes are W (quick: S, and A of EP, on 4 + 4 nodes), where the paper has B. The "
        "reference is MPICH, as there; the paper shows bars without numbers.",
    ),
    Recipe(
        "hablot-fig6-7",
        PAPER,
        "Figures 6 and 7",
        "the NAS kernels on 8 + 8 nodes, on 16 and on 4 of one site",
        {"": _PROGRAMS},
        (
            Claim("kernels that lose less than 20 % (Figure 6)", 4, _bear_it, sense="at least"),
            Claim("EP, split over one site (Figure 6: close to 1)", 1, gain(DIRECT, "ep", ONE)),
            Claim("LU, split over a quarter (Figure 7)", 4, gain(DIRECT, "lu", QUARTER)),
            Claim("BT, split over a quarter (Figure 7)", 4, gain(DIRECT, "bt", QUARTER)),
            Claim("FT, split over a quarter (Figure 7)", 3, gain(DIRECT, "ft", QUARTER)),
            Claim("SP, split over a quarter (Figure 7)", 3, gain(DIRECT, "sp", QUARTER)),
        ),
        "The paper has class B and a processor for each rank. Here classes are W (quick: S, and A "
        "of EP, with half of the ranks), and the nodes of a lab share the host's processors: more "
        "of them are no faster, and small problems wait for the wide area.",
    ),
    Recipe(
        "hablot-slow-start",
        PAPER,
        "Section V",
        "what TCP's slow start costs a message after 2 s of computing (future work there)",
        {"": _PAUSES, "begun": _BEGUN, "kernel": Measurement.shortened("app", _KERNEL, ())},
        (
            *(Claim(f"{size >> 10} KiB over one back to back{how}", None, _paused(key, size))
              for key, how in ((OURS, ""), (DIRECT, ", direct"))
              for size in PAUSED_BYTES),
            Claim("kernel FT: segments that TCP sent again, Isthmus, direct", None, _sent_again),
            Claim("kernel FT: the same, native Open MPI", None, _native_sent_again),
        ),
        "Pictures of the wide area show how each comes to its rate: with new connections, and in "
        "the kernel FT of class W.",
    ),
)  # fmt: skip
