"""Aumage and Mercier, MPICH/MadIII: a Cluster of Clusters Enabled MPI Implementation, 2003."""

from collections.abc import Callable
from pathlib import Path

from isthmus.measuring.tasks import KIB, LATENCY_BYTES, MIB, ONE_WAY
from isthmus_lab.bench.figures import rates, times
from isthmus_lab.bench.limits import OURS
from isthmus_lab.bench.papers.readings import natives, noise_of, only, repeated
from isthmus_lab.bench.papers.recipe import Claim, Measured, Measurement, Paper, Recipe

PAPER = Paper("madeleine", "Aumage and Mercier 2003, MPICH/MadIII")

_BEYOND_BURST = 8 * KIB  # smaller messages may fit the burst of a node's link (docs/lab.md)
_NETWORKS = ("das", "lgm")  # measurements inside the two clusters


def _one_way(measured: Measured) -> float:
    return 1e6 * measured.p2p().one_way(OURS, LATENCY_BYTES)


def _own(measured: Measured, network: str) -> float:
    """The least transfer time inside one of the networks."""
    return 1e6 * measured.p2p(network).one_way(OURS, LATENCY_BYTES)


def _beyond_both(measured: Measured) -> float:
    """The transfer time through the gateway, minus the sum of both networks' own times."""
    return _one_way(measured) - sum(_own(measured, network) for network in _NETWORKS)


def _noise_of_all(measured: Measured) -> float:
    return sum(noise_of(OURS, where=where)(measured) for where in ("", *_NETWORKS))


def _over_slower(measured: Measured) -> float:
    """The bandwidth through the gateway over that of the slower network, of the largest message.
    Small ones fit the burst of a node's link."""
    own = min(measured.p2p(network).largest_bandwidth(OURS) for network in _NETWORKS)
    return measured.p2p().largest_bandwidth(OURS) / own


def _draw(measured: Measured, folder: Path) -> list[Path]:
    """Through the gateway, in both networks, and the sum of these."""
    curves = {
        label: {s: found.one_way(OURS, s) for s in found.sizes(OURS)}
        for label, found in (
            ("through the gateway", measured.p2p()),
            *((f"inside {network}", measured.p2p(network)) for network in _NETWORKS),
        )
    }
    inside = [curves[f"inside {network}"] for network in _NETWORKS]
    sizes = sorted({*inside[0]} & {*inside[1]})
    sums = {s: sum(curve[s] for curve in inside) for s in sizes}
    bandwidths = {
        label: {size: size / time for size, time in points.items() if size >= _BEYOND_BURST}
        for label, points in curves.items()
    }
    title = "through a gateway between two networks"
    return [
        *times({**curves, "sum of both networks": sums}, f"Transfer {title}", folder / "fig6"),
        *rates(bandwidths, f"Bandwidth {title}", folder / "fig7"),
    ]


def _native(measured: Measured) -> str:
    """The first native MPI: the one below Isthmus."""
    return natives(measured.p2p())[0]


def _layer(measured: Measured) -> float:
    """The time that Isthmus adds to a message inside a cluster."""
    return _one_way(measured) - 1e6 * measured.p2p().one_way(_native(measured), LATENCY_BYTES)


def _noise_of_layer(measured: Measured) -> float:
    return noise_of(OURS, _native(measured))(measured)


def _locking(measured: Measured) -> str:
    """The same native MPI at MPI_THREAD_MULTIPLE."""
    return _native(measured).replace("-default", "-threads")


def _synchronization(measured: Measured) -> float:
    results = measured.p2p()
    times = (results.one_way(of(measured), LATENCY_BYTES) for of in (_locking, _native))
    locking, plain = times
    return 1e6 * (locking - plain)


def _noise_of_locks(measured: Measured) -> float:
    return noise_of(_locking(measured), _native(measured))(measured)


def _share(measured: Measured) -> float:
    results = measured.p2p()
    return results.best_bandwidth(OURS) / results.best_bandwidth(_native(measured))


def _way(way: str) -> Callable[[Measured], float]:
    return lambda measured: 1e6 * measured.p2p().way(OURS, way, LATENCY_BYTES)


def _draw_ways(measured: Measured, folder: Path) -> list[Path]:
    """The same as the picture of the benchmark, whose words are `there` and `back`."""
    found, curves = measured.p2p(), {}
    for way, network in zip(ONE_WAY, ("DAS-4, 280", "LGM, 62"), strict=True):
        curves[f"from {network} Mbit/s"] = {
            size: found.way(OURS, way, size) for size in found.sizes(OURS, way)
        }
    return times(curves, "One way through a gateway", folder / "ways", "one way")


def _ways_differ(size: int) -> Callable[[Measured], float]:
    """The slower direction over the quicker one."""

    def here(measured: Measured) -> float:
        times = [measured.p2p().way(OURS, way, size) for way in ONE_WAY]
        return max(times) / min(times)

    return here


_INSIDE = (
    *("--testbed=hablot", "--within=a", *only(OURS, "native-*-default", "native-*-threads")),
    *repeated("--figure", ("pingpong", *ONE_WAY)),
)
_GATEWAY = ("--testbed=leiden", "--set=zipper.nodes=1", "--figure=pingpong", *only(OURS))
_UNEQUAL = ("--testbed", "leiden", *repeated("--figure", ONE_WAY), *only(OURS))
_SIZES = repeated("--size", ("8 B", "4 KiB", "64 KiB", "1 MiB"))
_QUICK = (
    *repeated("--size", ("8 B", "1 KiB", "8 KiB", "64 KiB", "1 MiB")),
    *("--rounds=40", "--passes=2"),
)

RECIPES = (
    Recipe(
        "madeleine-fig2-5",
        PAPER,
        "Figures 2 to 5",
        "what the layer costs messages inside one network",
        {
            "": Measurement.shortened(
                "p2p",
                (*_INSIDE, "--rounds=100"),
                (*repeated("--size", ("8 B", "1 KiB", "16 KiB", "1 MiB")), "--passes=2"),
            )
        },
        (
            Claim("least transfer time over SCI", 20, _one_way, "us"),
            Claim("what the layer adds to 8 B", 15, _layer, "us", "at most", _noise_of_layer),
            Claim(
                "synchronization, which the paper estimates",
                15,
                _synchronization,
                "us",
                "at most",
                _noise_of_locks,
            ),
            Claim("bandwidth over that of the layer below", None, _share),
        ),
        "The layer is MPICH/MadIII over Madeleine there, Isthmus over the native MPI here. Isthmus "
        "packs no header inside a cluster, so packing (15 us there) costs nothing. Synchronization "
        "is what the native MPI takes longer at MPI_THREAD_MULTIPLE, where it locks.",
    ),
    Recipe(
        "madeleine-fig6-7",
        PAPER,
        "Figures 6 and 7",
        "messages through gateways between two networks",
        {
            "": Measurement.shortened("p2p", _GATEWAY, _QUICK),
            **{
                network: Measurement.shortened("p2p", (*_GATEWAY, f"--within={network}"), _QUICK)
                for network in _NETWORKS
            },
        },
        (
            Claim("least transfer time", 70, _one_way, "us"),
            Claim(
                "beyond the sum of both networks' own",
                30,
                _beyond_both,
                "us",
                "at most",
                _noise_of_all,
            ),
            Claim("bandwidth over the slower network's own", None, _over_slower),
        ),
        "One gateway between networks of 280 and 62 Mbit/s on one host. The paper's were SCI and "
        "Myrinet, and carried 35 MB/s. It also compares with FastEthernet between the same "
        "clusters, which this testbed has not. Transfer times are half round trips.",
        _draw,
    ),
    Recipe(
        "madeleine-ways",
        PAPER,
        "Section 4.2",
        "one-way times through a gateway between unequal networks, each way",
        {"": Measurement.shortened("p2p", (*_UNEQUAL, *_SIZES), ("--rounds=60", "--passes=1"))},
        (
            Claim("8 B one way, from the faster network", None, _way("there"), "us"),
            Claim("8 B one way, from the slower one", None, _way("back"), "us"),
            Claim("8 B: the slower way over the quicker one", None, _ways_differ(LATENCY_BYTES)),
            Claim("1 MiB: the same", None, _ways_differ(MIB)),
        ),
        "The paper says that messages from Myrinet to SCI went quicker than those back. Here the "
        "networks carry 280 and 62 Mbit/s; `there` is from the faster one.",
        _draw_ways,
    ),
)
