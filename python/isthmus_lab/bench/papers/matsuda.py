"""Matsuda et al., Efficient MPI Collective Operations for Clusters in Long-and-Fast Networks,
CLUSTER 2006."""

from collections.abc import Callable

from isthmus_lab.bench.coll.roster import ALL_SENDERS, DIRECT, FLAT, OLDER, paper
from isthmus_lab.bench.coll.variants import UNDELAYED
from isthmus_lab.bench.papers.readings import only, repeated
from isthmus_lab.bench.papers.recipe import Claim, Measured, Measurement, Paper, Recipe
from isthmus_lab.measuring.samples import NotMeasuredError, where_measured

PAPER = Paper("matsuda", "Matsuda et al. 2006, Efficient MPI collective operations")

_BOTH = repeated("--collective", ("bcast", "allreduce"))
_ONE, _EIGHT = paper("senders=1"), paper("senders=8")
_ALL = only(DIRECT, *(paper(name) for name in (OLDER, FLAT, "senders=*")))


def _largest(measured: Measured) -> int:
    sizes = [size for _, size, _ in measured.coll().cells(_variant(measured))]
    if not sizes:
        raise NotMeasuredError("no collective was measured")
    return max(sizes)


def _variant(measured: Measured) -> str:
    return next((run.variant for run in measured.coll().runs), "")


def _time(measured: Measured, key: str, collective: str) -> float:
    return measured.coll().time(key, collective, _largest(measured), variant=_variant(measured))


def _best(measured: Measured, collective: str) -> float:
    """The best of all numbers of senders."""
    times = where_measured(
        ALL_SENDERS,
        lambda n: _time(measured, paper(f"senders={n}"), collective),
        f"{collective} with several senders was not measured",
    )
    return min(times.values())


def _gain(collective: str) -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        return _time(measured, paper(OLDER), collective) / _best(measured, collective)

    return here


def _over(key: str, collective: str) -> Callable[[Measured], float]:
    """The older algorithm's time over this contestant's."""

    def here(measured: Measured) -> float:
        return _time(measured, paper(OLDER), collective) / _time(measured, key, collective)

    return here


def _dropped(measured: Measured) -> float:
    """The segments that the wide area dropped, with eight senders."""
    return float(measured.coll().dropped(_EIGHT))


def _resent(measured: Measured) -> float:
    """The segments that the kernels of all nodes sent again, with eight senders."""
    return float(measured.coll().sent_again(_EIGHT))


def _one_over_eight(collective: str) -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        return _time(measured, _ONE, collective) / _time(measured, _EIGHT, collective)

    return here


def _simulated(collective: str, older: str, newer: str) -> Callable[[Measured], float]:
    """The older algorithm's simulated time over the newer one's."""

    def here(measured: Measured) -> float:
        results = measured.sim()
        return (
            results.largest(collective, older).seconds / results.largest(collective, newer).seconds
        )

    return here


def _over_flat(collective: str) -> Callable[[Measured], float]:
    def here(measured: Measured) -> float:
        return _time(measured, paper(FLAT), collective) / _best(measured, collective)

    return here


_FIGURE_6 = Measurement(
    "coll",
    ("--testbed", "matsuda16", *_BOTH, *_ALL, "--traffic"),
    (
        *("--testbed", "matsuda", "--variant", "plain", *_BOTH),
        *repeated("--size", ("256 KiB", "3.2 MB")),
        *only(DIRECT, paper(OLDER), _ONE, _EIGHT),
        *("--repetitions=2", "--passes=1", "--traffic"),
    ),
)
_UNDELAYED = ("--testbed", "matsuda", "--variant", UNDELAYED, *_BOTH)
_FIGURE_7 = Measurement(
    "coll",
    (*_UNDELAYED, *_ALL),
    (
        *(*_UNDELAYED, *repeated("--size", ("64 KiB", "1 MiB")), "--no-tune"),
        *only(DIRECT, paper(FLAT), _ONE, _EIGHT),
        *("--repetitions=2", "--passes=1"),
    ),
)

_SIM_EIGHT = {
    "bcast": "van-de-geijn-wan:senders=8",
    "allreduce": "rabenseifner-wan:senders=8",
}
_SIM_WORDS = (
    *("--clusters=2", "--ranks=32", *_BOTH),
    "--network=wan-latency=10ms,wan-rate=10G,link-rate=1G,link-latency=20us,message-cost=5us,"
    "stream-cost=1us",
    *repeated("--algorithm", ("farfirst", "two-tier", "van-de-geijn", "rabenseifner")),
)
_SIMULATED = Measurement(
    "sim",
    (
        *_SIM_WORDS,
        *repeated("--size", ("32 KiB", "128 KiB", "512 KiB", "2 MiB", "8 MiB", "32 MB")),
        *repeated(
            "--algorithm",
            (
                f"{name}:senders={n}"
                for name in ("van-de-geijn-wan", "rabenseifner-wan")
                for n in (1, 2, 4, 8, 16)
            ),
        ),
    ),
    (
        *_SIM_WORDS,
        *repeated("--size", ("512 KiB", "32 MB")),
        *repeated("--algorithm", _SIM_EIGHT.values()),
    ),
)

RECIPES = (
    Recipe(
        "matsuda-fig6",
        PAPER,
        "Figure 6 and Table 1",
        "bcast and allreduce with n senders over a wide area that carries more than one",
        {"": _FIGURE_6},
        (
            Claim("bcast: farfirst over the best n", 1.6, _gain("bcast"), "", "at least"),
            Claim("allreduce: two-tier over the best n", 3.2, _gain("allreduce"), "", "at least"),
            Claim("bcast: farfirst over n = 8, by the cost model of Table 1", 1.41,
                  _over(_EIGHT, "bcast"), "", "at least"),
            Claim("allreduce: two-tier over n = 8, by the same", 2.35,
                  _over(_EIGHT, "allreduce"), "", "at least"),
            Claim("bcast: farfirst over n = 1, by the same", 1, _over(_ONE, "bcast")),
            Claim("allreduce: two-tier over n = 1, by the same", 1.67, _over(_ONE, "allreduce"), "",
                  "at least"),
            Claim("bcast: farfirst over what Isthmus chooses", 1.6, _over(DIRECT, "bcast"), "",
                  "at least"),
            Claim("allreduce: two-tier over what Isthmus chooses", 3.2,
                  _over(DIRECT, "allreduce"), "", "at least"),
            Claim("segments that the nodes' kernels sent again with n = 8", 0, _resent, "",
                  "at most"),
            Claim("segments that the wide area drops with n = 8", None, _dropped),
        ),
        "The largest message that was measured: 32 MB (quick: 3.2 MB on 8 + 8 nodes). Rates are a "
        "tenth of the paper's, so the delay weighs a tenth of what it does there.",
    ),
    Recipe(
        "matsuda-fig7",
        PAPER,
        "Figure 7",
        "the same without a delay",
        {"": _FIGURE_7},
        (
            Claim("bcast: van de Geijn over the best n", None, _over_flat("bcast")),
            Claim("allreduce: Rabenseifner over the best n", None, _over_flat("allreduce")),
            Claim("bcast: n = 1 over n = 8", None, _one_over_eight("bcast")),
            Claim("allreduce: n = 1 over n = 8", None, _one_over_eight("allreduce")),
        ),
        "The paper says in words that the originals are slower, and that n makes almost no "
        "difference. Rates are a tenth of the paper's.",
    ),
    Recipe(
        "matsuda-fig6-sim",
        PAPER,
        "Figure 6",
        "the same by simulation, at the paper's own rates and sizes",
        {"": _SIMULATED},
        (
            Claim("bcast: farfirst over n = 8", 1.6,
                  _simulated("bcast", "farfirst", _SIM_EIGHT["bcast"]), "", "at least"),
            Claim("allreduce: two-tier over n = 8", 3.2,
                  _simulated("allreduce", "two-tier", _SIM_EIGHT["allreduce"]), "", "at least"),
            Claim("bcast: farfirst over what Isthmus chooses", 1.6,
                  _simulated("bcast", "farfirst", ""), "", "at least"),
            Claim("allreduce: two-tier over what Isthmus chooses", 3.2,
                  _simulated("allreduce", "two-tier", ""), "", "at least"),
            Claim("bcast: farfirst over n = 8, by the cost model of Table 1", 1.41,
                  _simulated("bcast", "farfirst", _SIM_EIGHT["bcast"])),
            Claim("allreduce: two-tier over n = 8, by the same", 2.35,
                  _simulated("allreduce", "two-tier", _SIM_EIGHT["allreduce"])),
        ),
        "16 + 16 nodes of 1 Gbit/s, a wide area of 10 Gbit/s and 10 ms, messages up to 32 MB. A "
        "model stands for links and software: no message is sent, and TCP has no congestion.",
    ),
)  # fmt: skip
