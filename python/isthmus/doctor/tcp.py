"""The kernel's limits on TCP, compared with what a path needs: bandwidth x delay."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from isthmus.base.units import format_bytes, format_rate
from isthmus.doctor.findings import Finding

_MIB = 1 << 20
_WAN = 2e-3  # seconds of round trip from which a path counts as long
_LOOPBACK = 65535  # its MTU, as TCP sees it
_INITIAL_WINDOW = 10 * 1448  # bytes, of a stream that begins (RFC 6928)
_USUAL = "net.ipv4.tcp_congestion_control"
_SHARE = 2  # the kernel lets one in this many bytes of a buffer be in flight


def rough_rate(rate: float) -> str:
    """The rate in round figures."""
    return format_rate(float(f"{rate:.3g}"))


@dataclass(frozen=True)
class Path:
    """A path for a stream to fill: `rate` in bits per second, `rtt` in seconds."""

    rate: float
    rtt: float

    @property
    def product(self) -> int:
        """Bytes in flight."""
        return round(self.rate / 8 * self.rtt)

    def __str__(self) -> str:
        return f"{rough_rate(self.rate)} at {1e3 * self.rtt:.3g} ms"


def triple(settings: Mapping[str, str], name: str) -> tuple[int, int, int] | None:
    """The three numbers of net.ipv4.tcp_rmem or tcp_wmem."""
    words = settings.get(f"net.ipv4.{name}", "").split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        return None
    return int(words[0]), int(words[1]), int(words[2])


def most_rate(settings: Mapping[str, str], rtt: float) -> float | None:
    """Bits per second that one stream gets at most; or None with unknown settings."""
    found = [triple(settings, name) for name in ("tcp_rmem", "tcp_wmem")]
    if None in found or rtt <= 0:
        return None
    return min(8 * item[2] / _SHARE / rtt for item in found if item)


def wanted_ceiling(path: Path) -> int:
    """A whole power of two of MiB that lets one stream fill the path."""
    size = 4 * _MIB
    while size < _SHARE * path.product:
        size *= 2
    return size


def judge(
    where: str, host: str, settings: Mapping[str, str], path: Path, congestion: str | None = None
) -> list[Finding]:
    """For one end of a path. `congestion` is the algorithm that the grid file asks for."""
    found = [_ceilings(where, host, settings, path)]
    usual = settings.get(_USUAL, "")
    used = congestion if congestion and _may_use(settings, congestion) else usual
    if path.rtt >= _WAN:
        if used == usual:
            found += [_congestion(where, host, settings)]
        if used != "bbr":  # which paces its sending, and has no slow start after pauses
            found += _after_idle(where, host, settings, path)
    if congestion:
        found += _wanted(where, host, settings, congestion)
    found += _switches(where, host, settings)
    return found


def _ceilings(where: str, host: str, settings: Mapping[str, str], path: Path) -> Finding:
    what = "TCP buffers"
    most = most_rate(settings, path.rtt)
    if most is None:
        text = f"{host} does not report its net.ipv4.tcp_rmem and tcp_wmem"
        return Finding(where, what, "warn", text)
    ceilings = [triple(settings, name) for name in ("tcp_rmem", "tcp_wmem")]
    receive, send = (item[2] for item in ceilings if item)
    has = f"{host} has {format_bytes(receive)} to receive and {format_bytes(send)} to send"
    if most >= path.rate:
        return Finding(where, what, "ok", f"{has}: enough for {path}")
    text = (
        f"{has}: one stream carries about {rough_rate(most)} of {path}, which "
        f"needs {format_bytes(_SHARE * path.product)}"
    )
    return Finding(where, what, "warn", text, f"On {host}:\n" + "\n".join(mending(settings, path)))


def mending(settings: Mapping[str, str], path: Path) -> list[str]:
    """The commands that raise the ceilings which are too low, and no others."""
    size = wanted_ceiling(path)
    needed = _SHARE * path.product
    found = []
    for name in ("tcp_rmem", "tcp_wmem"):
        now = triple(settings, name)
        if now and now[2] < needed:
            found.append(f"sudo sysctl -w net.ipv4.{name}='{now[0]} {now[1]} {size}'")
    for name in ("net.core.rmem_max", "net.core.wmem_max"):  # for programs that set their own
        value = settings.get(name, "")
        if value.isdigit() and int(value) < needed:
            found.append(f"sudo sysctl -w {name}={size}")
    return found


def _may_use(settings: Mapping[str, str], name: str) -> bool:
    """Whether a link may use that congestion control: all may use the host's usual one."""
    allowed = settings.get("net.ipv4.tcp_allowed_congestion_control", "").split()
    return name in allowed or name == settings.get(_USUAL)


def _congestion(where: str, host: str, settings: Mapping[str, str]) -> Finding:
    what = "congestion control"
    name = settings.get(_USUAL, "")
    if name in ("reno", "vegas", "westwood"):
        known = settings.get("net.ipv4.tcp_available_congestion_control", "").split()
        better = next((other for other in ("bbr", "cubic") if other in known), "cubic")
        return Finding(
            where, what, "warn", f"{host} uses {name}, which is slow to fill long paths",
            f"On {host}:\nsudo sysctl -w {_USUAL}={better}",
        )  # fmt: skip
    return Finding(where, what, "ok", f"{host} uses {name or 'an unknown one'}")


def _wanted(where: str, host: str, settings: Mapping[str, str], wanted: str) -> list[Finding]:
    """The `congestion` of the grid file. Kernels reserve some algorithms for administrators."""
    what = "congestion"
    known = settings.get("net.ipv4.tcp_available_congestion_control", "").split()
    allowed = settings.get("net.ipv4.tcp_allowed_congestion_control", "").split()
    if _may_use(settings, wanted):
        return [Finding(where, what, "ok", f"{host} allows links to use {wanted}")]
    if wanted not in known:
        text = f"{host} has no {wanted}, or has not loaded it: the link uses the host's usual one"
        return [Finding(where, what, "warn", text, f"On {host}:\nsudo modprobe tcp_{wanted}")]
    name = "net.ipv4.tcp_allowed_congestion_control"
    remedy = f"On {host}:\nsudo sysctl -w {name}='{' '.join([*allowed, wanted])}'"
    text = f"{host} reserves {wanted} for administrators: the link uses the host's usual one"
    return [Finding(where, what, "warn", text, remedy)]


def _after_idle(where: str, host: str, settings: Mapping[str, str], path: Path) -> list[Finding]:
    """The kernel forgets a stream's window when the stream has been idle for a moment, as between
    the messages of a program that computes."""
    name = "net.ipv4.tcp_slow_start_after_idle"
    trips = math.ceil(math.log2(max(1.0, path.product / _INITIAL_WINDOW)))
    if settings.get(name) != "1" or trips < 2:
        return []
    text = (
        f"{host} slows TCP down after each pause of a stream: it takes {trips} round trips "
        f"({1e3 * trips * path.rtt:.0f} ms) to fill {path} again"
    )
    text += "; Isthmus keeps more streams ready, which makes up for most of that"
    return [Finding(where, "slow start", "warn", text, f"On {host}:\nsudo sysctl -w {name}=0")]


def _switches(where: str, host: str, settings: Mapping[str, str]) -> list[Finding]:
    """Settings that every kernel has on, and that nobody should turn off."""
    found = []
    for name, loss in (
        ("tcp_window_scaling", "no stream can have more than 64 KB in flight"),
        ("tcp_sack", "each loss costs many packets"),
        ("tcp_moderate_rcvbuf", "buffers do not grow with the path"),
    ):
        if settings.get(f"net.ipv4.{name}") == "0":
            remedy = f"On {host}:\nsudo sysctl -w net.ipv4.{name}=1"
            text = f"{host} has net.ipv4.{name} turned off: {loss}"
            found.append(Finding(where, "TCP", "warn", text, remedy))
    return found


def judge_mtu(where: str, mtu: int, ends: Mapping[str, tuple[int, Mapping[str, str]]]) -> Finding:
    """`ends`: for each host the MTU of its interface (0: not known) and its settings. A path that
    is narrower than an end relies on messages which firewalls often drop."""
    what = "MTU"
    wide = [host for host, (own, _) in ends.items() if own > 1500 and _LOOPBACK > mtu < own]
    careless = [host for host in wide if ends[host][1].get("net.ipv4.tcp_mtu_probing", "0") == "0"]
    names = ", ".join(f"{host} {own}" for host, (own, _) in ends.items() if own)
    text = f"{mtu} on the path" + (f" ({names})" if names else "")
    if careless:
        remedy = "\n".join(
            f"On {host}:\nsudo sysctl -w net.ipv4.tcp_mtu_probing=1" for host in careless
        )
        text += ": if a firewall drops ICMP, large packets are lost silently"
        return Finding(where, what, "warn", text, remedy)
    return Finding(where, what, "ok", text)
