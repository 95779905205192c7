"""The figures that a release must reach, on the testbeds where they are measured."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from isthmus.base.units import format_bytes
from isthmus.measuring.tasks import LARGEST, LATENCY_BYTES, PAUSE, PAUSED_BYTES
from isthmus_lab.bench.verdicts import Figure, Limit
from isthmus_lab.measuring.results import Results, half_bandwidth_size
from isthmus_lab.measuring.samples import NotMeasuredError, where_measured

OURS, DIRECT, MEMORY = "isthmus", "isthmus-direct", "isthmus-memory"
PLAIN = "isthmus-direct-plain"  # without encryption, like native MPIs
UNTUNED, TCP, TLS = "isthmus-untuned", "tcp", "tls"
PROXIES = ("haproxy", "stunnel")  # pairs in place of gateways; they encrypt only between clusters
PLAIN_LEGS = "isthmus-plain-legs"  # also encrypts only between clusters


# -- the figures ----------------------------------------------------------------------------------


def _megabits(rate: float) -> str:
    return f"{8 * rate / 1e6:.1f}"


def _over_tcp(contestant: str) -> Figure[Results]:
    def figure(results: Results) -> tuple[float, str]:
        ours = results.bandwidth(contestant, LARGEST)
        best = results.best_rate(TCP)
        return ours / best, f"{_megabits(ours)} of {_megabits(best)} Mbit/s"

    return figure


def _half_bandwidth(results: Results) -> tuple[float, str]:
    full = results.best_rate(TCP)
    physical = results.one_way(TCP, results.smallest(TCP)) * full
    ours = half_bandwidth_size(results, OURS, full)
    return ours / physical, f"{format_bytes(ours)} against {format_bytes(physical)}"


def _both_ways(results: Results) -> tuple[float, str]:
    both, one = results.rate(OURS, "bidirectional"), results.rate(OURS, "stream")
    said = f"{_megabits(both)} and {_megabits(one)} Mbit/s"
    with suppress(NotMeasuredError):  # the machine of a lab may carry less both ways
        tcp = results.rate(TCP, "bidirectional") / results.rate(TCP, "stream")
        said += f"; plain TCP {tcp:.2f}"
    return both / one, said


def _loaded(results: Results) -> tuple[float, str]:
    loaded = results.loaded(OURS)
    idle = 2 * results.median_one_way(OURS, LATENCY_BYTES)
    return loaded / idle, f"{1e3 * loaded:.2f} and {1e3 * idle:.2f} ms (medians)"


def _paused(contestant: str, size: int) -> Figure[Results]:
    def figure(results: Results) -> tuple[float, str]:
        back_to_back = 1e3 * results.median_one_way(contestant, size)
        ratio = results.paused(contestant, size)
        return ratio, f"{ratio * back_to_back:.2f} and {back_to_back:.2f} ms (medians)"

    return figure


def _over_iperf(results: Results) -> tuple[float, str]:
    ours = results.rate(OURS, "stream")
    keys = [key for key in results.labels if key.startswith("iperf3")]
    return _over_best(ours, results, keys, "iperf3: not measured (is it installed?)")


def _over_best(
    ours: float, results: Results, keys: Iterable[str], otherwise: str
) -> tuple[float, str]:
    """Our rate over the best stream of these contestants."""
    rates = where_measured(keys, lambda key: results.rate(key, "stream"), otherwise)
    best = max(rates, key=lambda key: rates[key])
    note = f"{_megabits(ours)} against {_megabits(rates[best])} Mbit/s of {results.labels[best]}"
    return ours / rates[best], note


def _over_proxies(results: Results) -> tuple[float, str]:
    """Like for like: neither encrypts traffic inside a cluster."""
    ours = results.rate(PLAIN_LEGS, "stream")
    otherwise = "HAProxy and stunnel: not measured (are they installed?)"
    ratio, note = _over_best(ours, results, PROXIES, otherwise)
    with suppress(NotMeasuredError):
        note += f"; with all legs encrypted {_megabits(results.rate(OURS, 'stream'))}"
    return ratio, note


def _over_stream(contestant: str, plain: str) -> Figure[Results]:
    def figure(results: Results) -> tuple[float, str]:
        ours, theirs = results.rate(contestant, "stream"), results.rate(plain, "stream")
        return ours / theirs, f"{_megabits(ours)} and {_megabits(theirs)} Mbit/s"

    return figure


def _added(contestant: str, gateways: int) -> Figure[Results]:
    def figure(results: Results) -> tuple[float, str]:
        ours = 1e6 * results.one_way(contestant, LATENCY_BYTES)
        plain = 1e6 * results.one_way(TCP, LATENCY_BYTES)
        medians = (
            f"{1e6 * results.median_one_way(key, LATENCY_BYTES):.1f}" for key in (contestant, TCP)
        )
        note = f"{ours:.1f} and {plain:.1f} us one way; medians {' and '.join(medians)}"
        return (ours - plain) / gateways, note

    return figure


def _scaling(zippers: int) -> Figure[Results]:
    def figure(results: Results) -> tuple[float, str]:
        one = results.rate(OURS, "stream", "1 zipper node")
        more = results.rate(OURS, "stream", f"{zippers} zipper nodes")
        return more / one / zippers, f"{_megabits(more)} and {_megabits(one)} Mbit/s"

    return figure


def _over_natives(contestant: str) -> Figure[Results]:
    """The worst size: our time over the best native MPI's. Without gateways, since a native job has
    none; the note has the cost of two of them."""

    def figure(results: Results) -> tuple[float, str]:
        natives = [key for key in results.labels if key.startswith("native-")]
        worst, note = _worst_size(results, contestant, natives)
        if results.sizes(OURS):
            ratio, through = _worst_size(results, OURS, natives)
            note += f"; through two gateways {ratio:.3f}, {through}"
        missing = [key for key in natives if not results.sizes(key)]
        return worst, note + (f"; {len(missing)} native MPIs not measured" if missing else "")

    return figure


def _over_tls(results: Results) -> tuple[float, str]:
    return _worst_size(results, DIRECT, [TLS])


def _worst_size(results: Results, contestant: str, others: Sequence[str]) -> tuple[float, str]:
    """The contestant's time over that of the best of the others."""
    worst: tuple[float, str] | None = None
    for size in results.sizes(contestant):
        times = {key: results.one_way(key, size) for key in others if size in results.sizes(key)}
        if times:
            best = min(times, key=lambda key: times[key])
            ratio = results.one_way(contestant, size) / times[best]
            if worst is None or ratio > worst[0]:
                worst = ratio, f"worst at {format_bytes(size)}: {results.labels[best]}"
    if worst is None:
        raise NotMeasuredError(f"{contestant}: not measured at a size at which another one was")
    return worst


LIMITS = (
    Limit(
        "hablot", "64 MiB pingpong bandwidth over plain TCP's best", "at least", 0.97,
        _over_tcp(OURS),
    ),
    Limit(
        "hablot", "the same with socket buffers of at most 208 KiB, over TCP's with large ones",
        "at least", 0.95, _over_tcp(UNTUNED),
    ),
    Limit(
        "hablot", "message size of half bandwidth over the physical one", "at most", 1.25,
        _half_bandwidth,
    ),
    Limit("hablot", "bidirectional over one-way bandwidth", "at least", 1.9, _both_ways),
    Limit("hablot", "8 B round trip beside a stream over one alone", "at most", 1.5, _loaded),
    *(
        Limit(
            "hablot", f"{size >> 10} KiB after {PAUSE:g} s of silence over back to back{how}",
            "at most", 1.3, _paused(contestant, size),
        )
        for contestant, how in ((OURS, ""), (DIRECT, ", direct"))
        for size in PAUSED_BYTES
    ),
    Limit(
        "hablot", "time of a message, direct, over that of the best native MPI", "at most", 1.01,
        _over_natives(DIRECT),
    ),
    Limit("fatpipe", "one-way bandwidth over iperf3's", "at least", 0.9, _over_iperf),
    Limit(
        "fatpipe",
        "one-way bandwidth, legs in clusters plain, over the best proxies in the gateways' places",
        "at least", 1.2, _over_proxies,
    ),
    Limit(
        "fatpipe", "one-way bandwidth, direct, over one TLS stream's of a plain program",
        "at least", 0.95, _over_stream(DIRECT, TLS),
    ),
    Limit(
        "lossy", "one-way bandwidth over one TCP stream's", "at least", 3,
        _over_stream(OURS, TCP),
    ),
    Limit(
        "loopback", "added one-way latency, direct", "at most", 10, _added(DIRECT, 1), "us",
    ),
    Limit(
        "loopback", "added one-way latency, per gateway", "at most", 5, _added(OURS, 2), "us",
    ),
    Limit(
        "room", "time of a message, direct, not encrypted, over that of the best native MPI",
        "at most", 1.15, _over_natives(PLAIN),
    ),
    Limit(
        "room", "time of a message, direct, over that of a plain program with TLS", "at most", 1.1,
        _over_tls,
    ),
    Limit("zipper", "one-way bandwidth of 2 zipper nodes over 2 x 1", "at least", 0.9, _scaling(2)),
    Limit("zipper", "one-way bandwidth of 4 zipper nodes over 4 x 1", "at least", 0.9, _scaling(4)),
)  # fmt: skip


def of_testbed(testbed: str) -> list[Limit[Results]]:
    return [limit for limit in LIMITS if limit.testbed == testbed]
