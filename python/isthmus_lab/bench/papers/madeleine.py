"""Aumage and Mercier, MPICH/MadIII: a Cluster of Clusters Enabled MPI Implementation, 2003."""

from collections.abc import Callable

from isthmus.measuring.tasks import LATENCY_BYTES, MIB, ONE_WAY
from isthmus_lab.bench.limits import OURS, TCP
from isthmus_lab.bench.papers.readings import natives, only, repeated
from isthmus_lab.bench.papers.recipe import Claim, Measured, Measurement, Paper, Recipe

PAPER = Paper("madeleine", "Aumage and Mercier 2003, MPICH/MadIII")

_FAST_ETHERNET = 100e6 / 8 / 1e6  # MB/s


def _one_way(measured: Measured) -> float:
    return 1e6 * measured.p2p().one_way(OURS, LATENCY_BYTES)


def _added(measured: Measured) -> float:
    """The latency that each of the two gateways adds."""
    plain = 1e6 * measured.p2p().one_way(TCP, LATENCY_BYTES)
    return (_one_way(measured) - plain) / 2


def _bandwidth(measured: Measured) -> float:
    """The bandwidth of the pingpong, as in the paper."""
    return measured.p2p().best_bandwidth(OURS) / 1e6


def _over_fast_ethernet(measured: Measured) -> float:
    return _bandwidth(measured) / _FAST_ETHERNET


def _native(measured: Measured) -> str:
    """The first native MPI: the one below Isthmus."""
    return natives(measured.p2p())[0]


def _layer(measured: Measured) -> float:
    """The time that Isthmus adds to a message inside a cluster."""
    return _one_way(measured) - 1e6 * measured.p2p().one_way(_native(measured), LATENCY_BYTES)


def _share(measured: Measured) -> float:
    results = measured.p2p()
    return results.best_bandwidth(OURS) / results.best_bandwidth(_native(measured))


def _way(way: str) -> Callable[[Measured], float]:
    return lambda measured: 1e6 * measured.p2p().way(OURS, way, LATENCY_BYTES)


def _ways_differ(size: int) -> Callable[[Measured], float]:
    """The slower direction over the quicker one."""

    def here(measured: Measured) -> float:
        times = [measured.p2p().way(OURS, way, size) for way in ONE_WAY]
        return max(times) / min(times)

    return here


_INSIDE = ("--testbed=hablot", "--within=a", *only(OURS, "native-*-default"))
_WORDS = ("--testbed", "loopback", "--figure=pingpong", *only(TCP, OURS))
_UNEQUAL = ("--testbed", "leiden", *repeated("--figure", ONE_WAY), *only(OURS))
_SIZES = repeated("--size", ("8 B", "4 KiB", "64 KiB", "1 MiB"))
_QUICK = (
    *(*_WORDS, *repeated("--size", ("8 B", "64 KiB", "1 MiB", "8 MiB"))),
    *("--rounds=100", "--passes=1"),
)

RECIPES = (
    Recipe(
        "madeleine-fig2-5",
        PAPER,
        "Figures 2 to 5",
        "what the layer costs messages inside one network",
        {
            "": Measurement(
                "p2p",
                (*_INSIDE, "--figure=pingpong", "--rounds=100"),
                (*_INSIDE, "--size=8 B", "--size=1 MiB", "--rounds=100", "--passes=2"),
            )
        },
        (
            Claim("least transfer time over SCI", 20, _one_way, "us"),
            Claim("what the layer adds", 15, _layer, "us", "at most"),
            Claim("bandwidth over that of the layer below", None, _share),
        ),
        "The layer is MPICH/MadIII over Madeleine there, Isthmus over the native MPI here.",
    ),
    Recipe(
        "madeleine-fig6-7",
        PAPER,
        "Figures 6 and 7",
        "messages through gateways between two networks",
        {"": Measurement("p2p", _WORDS, _QUICK)},
        (
            Claim("least transfer time", 70, _one_way, "us", "at most"),
            Claim("what a gateway adds", 30, _added, "us", "at most"),
            Claim("bandwidth", 35, _bandwidth, "MB/s", "at least"),
            Claim("bandwidth over FastEthernet's", 3, _over_fast_ethernet, "", "at least"),
        ),
        "Two gateways where the paper has one, on one host. Its networks were SCI and Myrinet on "
        "processors of 450 MHz. Transfer times are half round trips.",
    ),
    Recipe(
        "madeleine-ways",
        PAPER,
        "Section 4.2",
        "one-way times through a gateway between unequal networks, each way",
        {
            "": Measurement(
                "p2p",
                (*_UNEQUAL, *_SIZES),
                (*_UNEQUAL, *_SIZES, "--rounds=60", "--passes=1"),
            )
        },
        (
            Claim("8 B one way, from the faster network", None, _way("there"), "us"),
            Claim("8 B one way, from the slower one", None, _way("back"), "us"),
            Claim("8 B: the slower way over the quicker one", None, _ways_differ(LATENCY_BYTES)),
            Claim("1 MiB: the same", None, _ways_differ(MIB)),
        ),
        "The paper says that messages from Myrinet to SCI went quicker than those back. Here the "
        "networks carry 400 and 250 Mbit/s.",
    ),
)
