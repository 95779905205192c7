"""The doctor's judgement of TCP: pure sums."""

import re

import pytest

from isthmus.doctor import tcp
from isthmus.doctor.tcp import Path

LONG = Path(1e9, 0.0116)
UNTUNED = {
    "net.ipv4.tcp_rmem": "4096 131072 212992",
    "net.ipv4.tcp_wmem": "4096 16384 212992",
    "net.core.rmem_max": "212992",
    "net.core.wmem_max": "212992",
    "net.ipv4.tcp_congestion_control": "cubic",
}
TUNED = {**UNTUNED, "net.ipv4.tcp_rmem": "4096 131072 67108864",
         "net.ipv4.tcp_wmem": "4096 65536 67108864"}  # fmt: skip


def level(findings, what):
    (found,) = [finding for finding in findings if finding.what == what]
    return found.level


def test_product():
    assert LONG.product == 1_450_000  # the paper's 1.45 MB


def test_untuned_kernel_carries_a_tenth():
    # Measured in the lab with these ceilings: some 108 Mbit/s.
    most = tcp.most_rate(UNTUNED, LONG.rtt)
    assert most is not None
    assert 50e6 < most < 110e6


def test_ceilings():
    assert level(tcp.judge("x", "h", UNTUNED, LONG), "TCP buffers") == "warn"
    assert level(tcp.judge("x", "h", TUNED, LONG), "TCP buffers") == "ok"
    assert level(tcp.judge("x", "h", UNTUNED, Path(1e9, 50e-6)), "TCP buffers") == "ok"


def applied(settings, commands):
    """The settings after the commands."""
    after = dict(settings)
    for command in commands:
        name, value = re.fullmatch(r"sudo sysctl -w ([a-z0-9_.]+)='?([0-9 ]+)'?", command).groups()
        after[name] = value
    return after


@pytest.mark.parametrize(
    ("usual", "allowed", "congestion"),
    [("bbr", "reno cubic", None), ("bbr", "reno cubic", "bbr"), ("reno", "reno bbr", "bbr")],
)
def test_no_advice_about_the_congestion_control_when_bbr_is_used(usual, allowed, congestion):
    """The host uses bbr, or the grid file asks for it, or both."""
    settings = {
        **TUNED,
        "net.ipv4.tcp_congestion_control": usual,
        "net.ipv4.tcp_available_congestion_control": "reno cubic bbr",
        "net.ipv4.tcp_allowed_congestion_control": allowed,
        "net.ipv4.tcp_slow_start_after_idle": "1",
    }
    found = tcp.judge("x", "h", settings, LONG, congestion)
    assert not [finding.remedy for finding in found if finding.remedy]
    other = tcp.judge("x", "h", {**settings, "net.ipv4.tcp_congestion_control": "reno"}, LONG)
    assert [finding.remedy for finding in other if finding.remedy]


@pytest.mark.parametrize("path", [LONG, Path(10e9, 0.05), Path(1e8, 0.3)])
def test_the_remedy_mends(path):
    commands = tcp.mending(UNTUNED, path)
    after = applied(UNTUNED, commands)
    assert level(tcp.judge("x", "h", after, path), "TCP buffers") == "ok"
    assert tcp.mending(after, path) == []


def test_the_remedy_keeps_what_is_well():
    half = {**UNTUNED, "net.ipv4.tcp_rmem": "4096 131072 67108864", "net.core.rmem_max": "67108864"}
    names = [re.search(r"net\.[a-z0-9_.]+", line)[0] for line in tcp.mending(half, LONG)]
    assert names == ["net.ipv4.tcp_wmem", "net.core.wmem_max"]
    assert "'4096 16384 " in tcp.mending(half, LONG)[0]


def test_the_finding_shows_the_remedy():
    (found,) = [f for f in tcp.judge("x", "h", UNTUNED, LONG) if f.what == "TCP buffers"]
    assert found.remedy.splitlines() == ["On h:", *tcp.mending(UNTUNED, LONG)]


def test_a_host_that_does_not_say():
    assert level(tcp.judge("x", "h", {}, LONG), "TCP buffers") == "warn"
    broken = {"net.ipv4.tcp_rmem": "1 2", "net.ipv4.tcp_wmem": "a b c"}
    assert level(tcp.judge("x", "h", broken, LONG), "TCP buffers") == "warn"


SLOW = {**TUNED, "net.ipv4.tcp_slow_start_after_idle": "1"}


@pytest.mark.parametrize(
    ("value", "path", "told"),
    [
        ("1", LONG, True),
        ("0", LONG, False),
        ("1", Path(1e9, 50e-6), False),  # nothing to win
        ("1", Path(10e6, 0.02), False),  # filled at once
    ],
)
def test_slow_start_after_a_pause(value, path, told):
    settings = {**SLOW, "net.ipv4.tcp_slow_start_after_idle": value}
    found = [f for f in tcp.judge("x", "h", settings, path) if f.what == "slow start"]
    assert [f.level for f in found] == (["warn"] if told else [])


def test_slow_start_has_its_remedy():
    (found,) = [f for f in tcp.judge("x", "h", SLOW, LONG) if f.what == "slow start"]
    assert "7 round trips (81 ms) to fill 1 Gbit/s at 11.6 ms" in found.text
    after = applied(SLOW, found.remedy.splitlines()[1:])
    assert not [f for f in tcp.judge("x", "h", after, LONG) if f.what == "slow start"]


@pytest.mark.parametrize(
    ("name", "rtt", "wanted"),
    [("cubic", 0.1, ["ok"]), ("bbr", 0.1, ["ok"]), ("reno", 0.1, ["warn"]), ("reno", 1e-4, [])],
)
def test_congestion_control(name, rtt, wanted):
    settings = {**TUNED, "net.ipv4.tcp_congestion_control": name}
    found = tcp.judge("x", "h", settings, Path(1e9, rtt))
    assert [f.level for f in found if f.what == "congestion control"] == wanted


def test_better_congestion_control_is_one_that_is_there():
    settings = {**TUNED, "net.ipv4.tcp_congestion_control": "reno",
                "net.ipv4.tcp_available_congestion_control": "reno cubic"}  # fmt: skip
    (found,) = [f for f in tcp.judge("x", "h", settings, LONG) if f.what == "congestion control"]
    assert "tcp_congestion_control=cubic" in found.remedy


def test_what_is_turned_off():
    settings = {**TUNED, "net.ipv4.tcp_window_scaling": "0", "net.ipv4.tcp_sack": "1"}
    (found,) = [f for f in tcp.judge("x", "h", settings, LONG) if f.what == "TCP"]
    assert found.level == "warn"
    assert "net.ipv4.tcp_window_scaling=1" in found.remedy


PROBING = {"net.ipv4.tcp_mtu_probing": "1"}


@pytest.mark.parametrize(
    ("path", "ends", "wanted"),
    [
        (1500, {"a": (1500, {}), "b": (1500, {})}, "ok"),
        (9000, {"a": (9000, {}), "b": (9000, {})}, "ok"),
        (1500, {"a": (9000, {}), "b": (1500, {})}, "warn"),
        (1500, {"a": (9000, PROBING), "b": (1500, {})}, "ok"),
        (1400, {"a": (1500, {}), "b": (1500, {})}, "ok"),
    ],
)
def test_mtu(path, ends, wanted):
    found = tcp.judge_mtu("x", path, ends)
    assert found.level == wanted
    assert ("On a:" in found.remedy) is (wanted == "warn")


def test_the_congestion_control_that_a_link_wants():
    kept = {**TUNED, "net.ipv4.tcp_available_congestion_control": "reno cubic bbr",
            "net.ipv4.tcp_allowed_congestion_control": "reno cubic"}  # fmt: skip
    (found,) = [f for f in tcp.judge("x", "h", kept, LONG, "bbr") if f.what == "congestion"]
    assert found.level == "warn"
    (command,) = found.remedy.splitlines()[1:]
    assert command == "sudo sysctl -w net.ipv4.tcp_allowed_congestion_control='reno cubic bbr'"
    allowed = {**kept, "net.ipv4.tcp_allowed_congestion_control": "reno cubic bbr"}
    assert level(tcp.judge("x", "h", allowed, LONG, "bbr"), "congestion") == "ok"
    (found,) = [f for f in tcp.judge("x", "h", kept, LONG, "none") if f.what == "congestion"]
    assert "modprobe tcp_none" in found.remedy
    slow = {**allowed, "net.ipv4.tcp_slow_start_after_idle": "1"}
    assert level(tcp.judge("x", "h", slow, LONG), "slow start") == "warn"
    assert not [f for f in tcp.judge("x", "h", slow, LONG, "bbr") if f.what == "slow start"]
