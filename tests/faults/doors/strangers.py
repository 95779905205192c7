"""Strangers at ports: connections that prove nothing, of several kinds."""

import contextlib
import os
import resource
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

_FILES = 20_000  # that this process may open
_NEW_A_SECOND = 500  # more of them would be about processors, not about doors
_BIND_ADDRESS_NO_PORT, _IPV6_FREEBIND = 24, 78  # linux/in.h, linux/in6.h
SITE = "fd00:6973:7468"  # an IPv6 /48 of this host (doors.py)


@dataclass(frozen=True)
class Opening:
    """The words of strangers at a door: `begins` as its users do; `named` has a valid name."""

    begins: bytes
    named: bytes


@dataclass(frozen=True)
class Kind:
    """`count` connections at a time from `addresses` addresses; one that the other end closes is
    replaced. `each_second` makes this many new ones a second. Each says `says`, at once or a byte a
    second."""

    title: str
    count: int = 5000
    addresses: int = 1
    ipv6: bool = False
    each_second: int = 0
    says: str = "nothing"  # or "garbage", "half", "names"
    slowly: bool = False

    def first(self, opening: Opening) -> bytes:
        if self.says == "garbage":
            return os.urandom(300)
        if self.says == "half":
            return opening.begins
        return opening.named if self.says == "names" else b""

    def source(self, number: int) -> str:
        """An address of loopback. The first is the users' own."""
        if self.ipv6:
            return f"{SITE}:1::{1 + number % self.addresses:x}"
        number %= self.addresses
        return f"127.0.{number // 250}.{1 + number % 250}"


KINDS = {
    "one": Kind("5,000 silent, of the users' address"),
    "many": Kind("5,000 silent, of 64 addresses", addresses=64),
    "ipv6": Kind("5,000 silent, of one IPv6 /64", addresses=5000, ipv6=True),
    "flood": Kind("500 new ones a second", count=_FILES - 2000, each_second=500),
    "garbage": Kind("5,000 with garbage", says="garbage"),
    "slow": Kind("5,000 with a byte a second", says="half", slowly=True),
    "half": Kind("5,000 with half a handshake", says="half"),
    "names": Kind("5,000 with names without secrets", says="names", addresses=4),
}


def client_hello() -> bytes:
    """The first flight of TLS 1.3."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    return out.read()


def by_challenge(name: str) -> Opening:
    """The handshake of gateways, ranks and services begins so (docs/protocol.md)."""
    whole = b"ISTHMUS\n\x01" + bytes([len(name)]) + name.encode() + bytes(32)
    return Opening(whole[:-20], whole)


def by_tls() -> Opening:
    return Opening(client_hello(), client_hello())


class _Stranger:
    def __init__(self, connection: socket.socket, first: bytes) -> None:
        self.connection = connection
        self.left = first
        self.next = 0.0

    def speak(self, *, slowly: bool) -> None:
        """OSError where it is closed."""
        now = time.monotonic()
        if not self.left or now < self.next:
            return
        size = 1 if slowly else len(self.left)
        with contextlib.suppress(BlockingIOError):
            self.left = self.left[self.connection.send(self.left[:size]) :]
        self.next = now + 1 if slowly else now


class Strangers:
    """Within `with`: those of the kind, at each of the ports of the host. A path is the port of a
    unix socket."""

    def __init__(self, host: str, ports: Sequence[int | str], kind: Kind, opening: Opening) -> None:
        self._host = host
        self._ports = ports
        self._kind = kind
        self._opening = opening
        self._held: dict[int, _Stranger] = {}
        self._speaking: dict[int, _Stranger] = {}
        self._epoll = select.epoll()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._hold)
        self.made = self.tries = 0

    def __enter__(self) -> "Strangers":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < _FILES:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, hard), hard))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    @property
    def full(self) -> bool:
        """All have come that come at a time; for a flood, those of three seconds."""
        wanted = 3 * self._kind.each_second or self._kind.count * len(self._ports)
        return self.made >= wanted

    def _hold(self) -> None:
        rate = self._kind.each_second or _NEW_A_SECOND
        # The first of them come as quickly as they can.
        most = 0 if self._kind.each_second else self._kind.count * len(self._ports)
        begin = time.monotonic()
        while not self._over.wait(0.01):
            for stranger in self._heard():
                self._close(stranger)
            for number, stranger in list(self._speaking.items()):
                try:
                    stranger.speak(slowly=self._kind.slowly)
                    if not stranger.left:
                        del self._speaking[number]
                except OSError:
                    self._close(stranger)
            allowed = most + rate * (time.monotonic() - begin)
            for _ in range(100):
                room = len(self._held) < self._kind.count * len(self._ports)
                if not room or self.made >= allowed or not self._knock():
                    break
        for stranger in list(self._held.values()):
            self._close(stranger)
        self._epoll.close()

    def _knock(self) -> bool:
        """False: nobody listens there."""
        source = self._kind.source(self.tries)
        port = self._ports[self.tries % len(self._ports)]
        family = socket.AF_INET6 if ":" in source else socket.AF_INET
        stranger = socket.socket(socket.AF_UNIX if isinstance(port, str) else family)
        self.tries += 1
        try:
            stranger.settimeout(0.2)
            if isinstance(port, str):
                stranger.connect(port)
            else:
                stranger.setsockopt(socket.IPPROTO_IP, _BIND_ADDRESS_NO_PORT, 1)
                if self._kind.ipv6:
                    stranger.setsockopt(socket.IPPROTO_IPV6, _IPV6_FREEBIND, 1)
                stranger.bind((source, 0))
                stranger.connect((self._host, port))
        except OSError:
            stranger.close()
            return False
        stranger.setblocking(False)
        self.made += 1
        made = _Stranger(stranger, self._kind.first(self._opening))
        self._held[stranger.fileno()] = made
        if made.left:
            self._speaking[stranger.fileno()] = made
        self._epoll.register(stranger, select.EPOLLIN)
        return True

    def _close(self, stranger: _Stranger) -> None:
        number = stranger.connection.fileno()
        del self._held[number]
        self._speaking.pop(number, None)
        self._epoll.unregister(number)
        stranger.connection.close()

    def _heard(self) -> Iterator[_Stranger]:
        """Yields those that the other end has closed."""
        for number, _ in self._epoll.poll(0):
            stranger = self._held[number]
            try:
                while stranger.connection.recv(1 << 16):
                    pass
            except BlockingIOError:
                continue
            except OSError:
                pass
            yield stranger
