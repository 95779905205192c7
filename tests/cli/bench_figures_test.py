"""Samples become figures, and figures become verdicts."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from isthmus.measuring.runs import Run, run_from_json
from isthmus.measuring.tasks import LARGEST, MIB, Task, parse, powers_of_two
from isthmus_lab.bench import figures, limits
from isthmus_lab.bench.limits import LIMITS
from isthmus_lab.bench.report import p2p_table
from isthmus_lab.bench.verdicts import Limit, judge
from isthmus_lab.measuring.results import Results, half_bandwidth_size
from isthmus_lab.measuring.samples import NotMeasuredError

DELAY, RATE = 0.0058, 125e6  # of a wire: one way, and bytes per second


def wire_times(delay: float, rate: float, sizes: list[int]) -> dict[int, float]:
    """Round trips over an ideal wire."""
    return {size: 2 * (delay + size / rate) for size in sizes}


def pingpongs(key: str, times: dict[int, float], worse: float = 1.5) -> list[Run]:
    return [
        Run(key, 0, Task("pingpong", size, 2), 1, (worse * seconds, seconds))
        for size, seconds in times.items()
    ]


def flow(key: str, figure: str, seconds: float, messages: int, **more) -> Run:
    return Run(
        key, 0, Task(figure, MIB, 1, 1.0), more.pop("pairs", 1), (seconds,), (messages,), **more
    )


def results(*runs: Run) -> Results:
    keys = dict.fromkeys(run.contestant for run in runs)
    return Results({key: key for key in keys}, list(runs))


def test_variants_have_pictures_and_tuned_natives_only_if_there_are_any(tmp_path: Path):
    pytest.importorskip("matplotlib")
    runs = [
        replace(run, variant=variant)
        for variant in ("1 zipper node", "2 zipper nodes")
        for key in ("isthmus", "native-x-default")
        for run in pingpongs(key, {8: 1e-4, MIB: 0.1})
    ]
    made = figures.p2p(results(*runs), "zipper", tmp_path)
    assert {path.name for path in made if path.suffix == ".png"} == {
        f"zipper-{variant}-{what}.png"
        for variant in ("1-zipper-node", "2-zipper-nodes")
        for what in ("bandwidth-default", "latency")
    }


def test_streams_of_several_sizes_are_told_apart(tmp_path: Path):
    small, large = Task("stream", 1024, 1, 1.0), Task("stream", MIB, 1, 1.0)
    found = results(
        Run("isthmus", 0, small, 1, (1.0,), (1000.0,)), Run("isthmus", 0, large, 1, (1.0,), (9.0,))
    )
    assert found.rates_by_size("isthmus", "stream") == {1024: [1024e3], MIB: [9.0 * MIB]}
    assert found.rate("isthmus", "stream") == 9 * MIB
    pytest.importorskip("matplotlib")
    names = {path.name for path in figures.p2p(found, "zipper", tmp_path)}
    assert "zipper-stream.png" in names


@pytest.mark.parametrize(
    "task",
    [
        Task("pingpong", 8, 200),
        Task("stream", MIB, 3, 1.5),
        Task("rate", 8, 1, 0.25),
        Task("loaded", 8, total=10**9),
        Task("back", 8, 5),
    ],
)
def test_tasks_are_read_as_they_are_written(task):
    assert parse(task.text) == task


@pytest.mark.parametrize(
    "text", ["", "pingpong", "pingpong:1", "stream:1:2", "ping:1:1", "rate:a:1:1"]
)
def test_what_is_no_task(text):
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_sizes_of_the_paper():
    sizes = powers_of_two()
    assert (sizes[0], sizes[-1], len(sizes)) == (1, 64 << 20, 27)


def test_latency_is_the_least_and_bandwidth_the_most():
    found = results(Run("x", 0, Task("pingpong", 1000, 4), 1, (0.4, 0.2, 0.3, 0.8)))
    assert found.one_way("x", 1000) == 0.1
    assert found.bandwidth("x", 1000) == 10_000
    assert found.median_one_way("x", 1000) == pytest.approx(0.175)


def test_samples_of_all_passes_count():
    first = Run("x", 0, Task("pingpong", 1, 1), 1, (0.4,))
    second = Run("x", 1, Task("pingpong", 1, 1), 1, (0.2,))
    assert results(first, second).round_trips("x", 1) == [0.4, 0.2]


def test_flows_count_all_pairs_and_both_ways():
    found = results(flow("x", "stream", 2.0, 10, pairs=3), flow("x", "bidirectional", 2.0, 10))
    assert found.rate("x", "stream") == 15 * MIB
    assert found.rate("x", "bidirectional") == 10 * MIB


def test_half_bandwidth_of_an_ideal_wire():
    found = results(*pingpongs("x", wire_times(DELAY, RATE, powers_of_two())))
    assert half_bandwidth_size(found, "x", RATE) == pytest.approx(DELAY * RATE, rel=1e-6)


def test_half_bandwidth_never_reached():
    found = results(*pingpongs("x", wire_times(DELAY, RATE / 4, powers_of_two())))
    with pytest.raises(NotMeasuredError):
        half_bandwidth_size(found, "x", RATE)


def test_half_bandwidth_with_a_step_stays_between_the_sizes():
    times = {1024: 2e-3, 2048: 1.0e-3}  # half of 2 MB/s is reached at the second
    size = half_bandwidth_size(results(*pingpongs("x", times)), "x", 4e6)
    assert 1024 < size <= 2048


@pytest.mark.parametrize(
    "broken",
    [
        {"task": "pingpong:8:1", "pairs": 1},
        {"task": "nothing", "pairs": 1, "seconds": [1.0]},
        {"task": "pingpong:8:1", "pairs": 1, "seconds": [0.0]},
        {"task": "stream:8:1:1", "pairs": 1, "seconds": [1.0]},
        {"task": "stream:8:1:1", "pairs": 1, "seconds": [1.0], "messages": [1, 2]},
        {"task": "pingpong:8:1", "pairs": 1, "seconds": ["x"]},
    ],
)
def test_samples_that_are_none(broken):
    with pytest.raises((ValueError, KeyError, TypeError)):
        run_from_json(broken)


def test_json_holds_every_sample():
    before = results(
        *pingpongs("x", {8: 0.1}), flow("x", "stream", 1.0, 7), flow("y", "stream", 1.0, 9)
    )
    after = Results()
    after.merge(before.as_json())
    assert after == before
    other = Results()
    other.merge(before.as_json(), "2 zipper nodes")
    assert {run.variant for run in other.runs} == {"2 zipper nodes"}


# -- limits ---------------------------------------------------------------------------------------


def hablot(ours_delay: float, ours_rate: float, **more: float) -> Results:
    """An Isthmus of that delay and rate beside plain TCP and a native MPI over the ideal wire."""
    sizes = [8, 64 << 10, 256 << 10, 512 << 10, MIB, 2 * MIB, 4 * MIB, LARGEST]
    paused = more.get("paused", 1.0)
    ours = wire_times(ours_delay, ours_rate, sizes)
    count = 1000
    both = more.get("both", 2.0)
    found = [
        *pingpongs("tcp", wire_times(DELAY, RATE, sizes)),
        *pingpongs("isthmus", ours, 1.0),
        *pingpongs("isthmus-direct", ours),
        *pingpongs("isthmus-untuned", ours),
        *pingpongs("native-x-default", wire_times(DELAY, RATE, [8, LARGEST])),
        flow("isthmus", "stream", 1.0, count),
        flow("isthmus", "bidirectional", 1.0, round(both / 2 * count)),
        Run("isthmus", 0, Task("loaded", 8, total=1), 1, (more.get("beside", 1.0) * ours[8],)),
    ]
    for key in ("isthmus", "isthmus-direct"):
        for size in (256 << 10, 4 * MIB):
            task = Task("paused", size, 1, 2.0)
            found.append(Run(key, 0, task, 1, (paused * ours[size],)))
    return results(*found)


def verdicts(found: Results, testbed: str = "hablot") -> dict[str, bool]:
    return {v.limit.name: v.well for v in judge(limits.of_testbed(testbed), found)}


def test_as_fast_as_the_wire_is_well():
    assert all(verdicts(hablot(DELAY, RATE)).values())


@pytest.mark.parametrize(
    ("found", "short"),
    [
        (hablot(DELAY, 0.96 * RATE), "pingpong bandwidth"),
        (hablot(DELAY, 0.94 * RATE), "socket buffers"),
        (hablot(1.3 * DELAY, RATE), "half bandwidth"),
        (hablot(DELAY, RATE, both=1.8), "bidirectional"),
        (hablot(DELAY, RATE, beside=1.6), "beside a stream"),
        (hablot(DELAY, RATE, paused=1.4), "after 2 s of silence"),
        (hablot(1.02 * DELAY, RATE), "native"),
    ],
)
def test_what_falls_short_is_found(found, short):
    fallen = [name for name, well in verdicts(found).items() if not well]
    assert any(short in name for name in fallen)


def test_what_is_not_measured_is_not_well():
    found = judge(limits.of_testbed("hablot"), results())
    assert found
    for verdict in found:
        assert not verdict.well
        assert "not measured" in verdict.note or "was measured" in verdict.note


def test_the_best_of_plain_tcp_may_be_its_stream():
    found = hablot(DELAY, 0.98 * RATE)
    assert verdicts(found)["64 MiB pingpong bandwidth over plain TCP's best"]
    found.runs.append(flow("tcp", "stream", 1.0, round(1.05 * RATE / MIB)))
    assert not verdicts(found)["64 MiB pingpong bandwidth over plain TCP's best"]


def test_the_best_native_mpi_counts():
    sizes = [8, LARGEST]
    ours = wire_times(DELAY, RATE, sizes)
    found = results(
        *pingpongs("isthmus-direct", ours),
        *pingpongs("isthmus", {size: 1.5 * t for size, t in ours.items()}),
        *pingpongs("native-slow", {size: 2 * t for size, t in ours.items()}),
        *pingpongs("native-quick", {size: 0.9 * t for size, t in ours.items()}),
    )
    (verdict,) = [v for v in judge(limits.of_testbed("hablot"), found) if "native" in v.limit.name]
    assert verdict.value == pytest.approx(1 / 0.9)
    assert "native-quick" in verdict.note
    assert "through two gateways 1.667" in verdict.note
    found.labels["native-absent"] = "native-absent"
    (verdict,) = [v for v in judge(limits.of_testbed("hablot"), found) if "native" in v.limit.name]
    assert "1 native MPIs not measured" in verdict.note


@pytest.mark.parametrize(("four", "well"), [(3.7, True), (3.5, False)])
def test_zipper_nodes_scale(four, well):
    runs = [
        flow("isthmus", "stream", 1.0, count, variant=variant)
        for count, variant in (
            (1000, "1 zipper node"),
            (2000, "2 zipper nodes"),
            (round(1000 * four), "4 zipper nodes"),
        )
    ]
    assert verdicts(results(*runs), "zipper") == {
        "one-way bandwidth of 2 zipper nodes over 2 x 1": True,
        "one-way bandwidth of 4 zipper nodes over 4 x 1": well,
    }


@pytest.mark.parametrize(("added", "well"), [(4.9e-6, True), (5.1e-6, False)])
def test_added_latency_is_per_gateway(added, well):
    found = results(
        *pingpongs("tcp", {8: 2 * 20e-6}), *pingpongs("isthmus", {8: 2 * (20e-6 + 2 * added)})
    )
    assert verdicts(found, "loopback")["added one-way latency, per gateway"] is well


@pytest.mark.parametrize(("ours", "well"), [(960, True), (940, False)])
def test_direct_is_compared_with_a_plain_program_that_encrypts(ours, well):
    found = results(
        flow("isthmus-direct", "stream", 1.0, ours),
        flow("tls", "stream", 1.0, 1000),
        flow("tcp", "stream", 1.0, 3000),
    )
    limit = "one-way bandwidth, direct, over one TLS stream's of a plain program"
    assert verdicts(found, "fatpipe")[limit] is well


@pytest.mark.parametrize(("ours", "well"), [(22e-6, True), (24e-6, False)])
def test_in_one_room_the_yardstick_without_encryption_is_the_best_native_mpi(ours, well):
    found = results(
        *pingpongs("isthmus-direct-plain", {8: 2 * 10e-6, 1024: 2 * ours}),
        *pingpongs("isthmus-direct", {8: 2 * 90e-6}),
        *pingpongs("native-openmpi4.1-default", {8: 2 * 10e-6, 1024: 2 * 20e-6}),
        *pingpongs("native-mpich4.0-default", {8: 2 * 9e-6, 1024: 2 * 30e-6}),
        *pingpongs("tcp", {8: 2 * 1e-6}),
    )
    limit = "time of a message, direct, not encrypted, over that of the best native MPI"
    assert verdicts(found, "room")[limit] is well


@pytest.mark.parametrize(("ours", "well"), [(21e-6, True), (23e-6, False)])
def test_in_one_room_the_yardstick_with_encryption_is_a_plain_program_with_tls(ours, well):
    found = results(
        *pingpongs("isthmus-direct", {8: 2 * 9e-6, 1024: 2 * ours}),
        *pingpongs("tls", {8: 2 * 10e-6, 1024: 2 * 20e-6}),
        *pingpongs("native-openmpi4.1-default", {8: 2 * 1e-6, 1024: 2 * 2e-6}),
    )
    limit = "time of a message, direct, over that of a plain program with TLS"
    assert verdicts(found, "room")[limit] is well


def test_best_iperf3_is_the_yardstick():
    found = results(
        flow("isthmus", "stream", 1.0, 850),
        flow("iperf3-1", "stream", 1.0, 500),
        flow("iperf3-4", "stream", 1.0, 1000),
    )
    assert verdicts(found, "fatpipe")["one-way bandwidth over iperf3's"] is False


@pytest.mark.parametrize(("ours", "well"), [(700, True), (590, False)])
def test_best_pair_of_proxies_is_the_yardstick(ours, well):
    found = results(
        flow("isthmus", "stream", 1.0, 300),
        flow("isthmus-plain-legs", "stream", 1.0, ours),
        flow("haproxy", "stream", 1.0, 400),
        flow("stunnel", "stream", 1.0, 500),
        flow("haproxy-throughout", "stream", 1.0, 1000),
    )
    limit = (
        "one-way bandwidth, legs in clusters plain, over the best proxies in the gateways' places"
    )
    assert verdicts(found, "fatpipe")[limit] is well


@pytest.mark.parametrize(
    ("sense", "value", "holds"),
    [
        ("at least", 1.0, True),
        ("at least", 0.99, False),
        ("at most", 1.0, True),
        ("at most", 1.01, False),
    ],
)
def test_senses(sense, value, holds):
    assert Limit("x", "x", sense, 1.0, lambda _: (value, "")).holds(value) is holds


def test_every_limit_names_a_testbed_that_there_is():
    from isthmus_lab.lab.testbed import shipped  # noqa: PLC0415

    assert {limit.testbed for limit in LIMITS} <= {*shipped(), "loopback"}


def test_a_table_for_each_variant_has_all_that_was_measured_in_it():
    runs = []
    for zippers, seconds in (("1 zipper node", 20e-6), ("2 zipper nodes", 40e-6)):
        runs += [replace(run, variant=zippers) for run in pingpongs("isthmus", {8: seconds})]
        runs.append(flow("isthmus", "stream", 1.0, 100, variant=zippers))
    out = StringIO()
    p2p_table(results(*runs), "zipper", Console(file=out, width=120))
    one, two = out.getvalue().split("2 zipper nodes")
    assert "1 zipper node" in one
    assert "10.0 (12.5)" in one
    assert "20.0 (25.0)" in two
    assert one.count("838.9") == two.count("838.9") == 2  # 100 MiB within a second, and the median
