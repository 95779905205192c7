"""Treurniet, The Leiden Zipper, a bridging architecture, Leiden University."""

from isthmus.measuring.tasks import GIGABYTE, LARGEST, LATENCY_BYTES
from isthmus_lab.bench.app.layouts import ONE
from isthmus_lab.bench.limits import DIRECT, OURS, TCP
from isthmus_lab.bench.papers.readings import gain, only, repeated
from isthmus_lab.bench.papers.recipe import Claim, Measurement, Paper, Recipe
from isthmus_lab.bench.papers.treurniet_readings import (
    CLUSTERS,
    FORWARDING,
    SLOWER,
    ZIPPERS,
    alltoalls,
    both_ways,
    by,
    by_others,
    draw_figure_6,
    draw_zippers,
    each_zipper,
    forwarded,
    gateways_take,
    latency,
    milliseconds,
    over_inside,
    over_own,
    over_slower,
    over_zippers,
    own_rate,
    own_ways,
    tightness,
)

PAPER = Paper("treurniet", "Treurniet, The Leiden Zipper, a bridging architecture")

_COLLECTIVES = ("barrier", "bcast", "alltoall", "alltoallv", "reduce", "allreduce")
_KERNELS = ("ep", "mg", "cg", "is", "lu")
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
                for cluster in CLUSTERS
            },
        },
        (
            Claim("both ways over one way (its forwarder is half duplex)", 1, both_ways, "",
                  "at least"),
            Claim("both ways over the bridge, over LGM's own one way (550 of 780 MB/s there)",
                  0.705, over_slower, "", "at least"),
            Claim("DAS-4's own: both ways over one way", 2, own_ways("das")),
            Claim("LGM's own: both ways over one way", 2, own_ways("lgm")),
            Claim("DAS-4's own, one way, a hundredth of 3500 MB/s", 280, own_rate("das"),
                  "Mbit/s"),
            Claim("LGM's own, one way, a hundredth of 780 MB/s", 62.4, own_rate("lgm"), "Mbit/s"),
            Claim("latency of 8 B over the bridge", None, latency(OURS), "us"),
        ),
        "Rates are a hundredth of the thesis's InfiniBand, by TCP. Open MPI in both clusters, as "
        "there. A message that fits the burst of a node's link takes no time on it (docs/lab.md).",
        draw_figure_6,
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
            FORWARDING: Measurement.shortened(
                "p2p", _FORWARDED, ("--passes=2", "--seconds=1", "--rounds=200")
            ),
        },
        (
            Claim("latency of 8 B, Isthmus", None, by(OURS, "pingpong"), "us"),
            Claim("latency of 8 B, the best other way", None, by_others("pingpong"), "us"),
            Claim("one way, Isthmus", None, by(OURS, "stream"), "Mbit/s"),
            Claim("one way, the best other way", None, by_others("stream"), "Mbit/s"),
            Claim("both ways, Isthmus", None, by(OURS, "bidirectional"), "Mbit/s"),
            Claim("both ways, the best other way", None, by_others("bidirectional"), "Mbit/s"),
            *(
                Claim(f"IP forwarding: {what}, {label}", None, forwarded(key, figure), unit)
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
            *(Claim(f"{name}, the least size", None, milliseconds(name), "ms")
              for name in _COLLECTIVES),
            *(Claim(f"{name}: over {cluster}'s own MPI", None, over_inside(name, cluster))
              for name in _COLLECTIVES for cluster in CLUSTERS),
            Claim("alltoallv over alltoall", 1, alltoalls),
            Claim("barrier: from the first rank's return to the last's", None, tightness(), "ms"),
            *(Claim(f"the same of {cluster}'s own MPI", None, tightness(cluster), "ms")
              for cluster in CLUSTERS),
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
            for name, far in zip(ZIPPERS.values(), "bcd", strict=True)
        },
        (
            *(Claim(f"latency of 8 B over {name}", None, over_zippers(number), "us")
              for number, name in ZIPPERS.items()),
            Claim("each further zipper node adds", None, each_zipper, "us"),
        ),
        "The thesis says, without numbers, that the zipper nodes between two clusters grow as the "
        "logarithm of the number of clusters. If each adds the same, the latency does, too.",
        draw_zippers,
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
                  gateways_take("pingpong", LATENCY_BYTES, 1e6), "us"),
            Claim("64 MiB: both gateways, each gigabyte", None,
                  gateways_take("stream", LARGEST, GIGABYTE / LARGEST), "s"),
            Claim("cores that both take at 1 Gbit/s", None,
                  gateways_take("stream", LARGEST, 0.125 * GIGABYTE / LARGEST)),
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
            SLOWER: Measurement(
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
                    over_own(kernel, cluster))
              for kernel in _KERNELS for cluster in CLUSTERS),
            *(Claim(f"{kernel.upper()}, class A: the same", None, gain(OURS, kernel, ONE, _LARGE))
              for kernel in ("mg", "is")),
        ),
        "Classes W and A on up to 16 ranks, where the thesis has C on up to 64 with a processor "
        "for each; rates are a hundredth of its.",
    ),
)  # fmt: skip
