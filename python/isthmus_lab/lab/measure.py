"""Measures a lab from inside: which nodes reach each other, their distance, and their rates.

One process does it all: a socket stays in the network namespace in which it was made.
"""

import contextlib
import errno
import fcntl
import os
import select
import selectors
import signal
import socket
import struct
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isthmus_lab.lab import kernel
from isthmus_lab.lab.network import Bottleneck, Network, Node, Path
from isthmus_lab.lab.registry import Lab

_PORT, _SINK_PORT = 7411, 7412
_NOT_REACHED = 0.4  # seconds that an answer may take beyond the round trip


@dataclass(frozen=True)
class Pair:
    """`reached` is the name of the node that answered; `rtt` in seconds, of the quickest try."""

    source: Node
    target: Node
    path: Path | None
    reached: str | None
    rtt: float | None


@dataclass(frozen=True)
class Flow:
    """One TCP stream; `rate` in bits per second of payload. `limit` None: nothing is shaped."""

    source: Node
    target: Node
    path: Path
    limit: Bottleneck | None
    rate: float


@dataclass(frozen=True)
class Message:
    """The least time of a message one way, in seconds, without half of the least round trip; and
    `trip`, with its answer. Load makes the first too short if it delays the round trip more."""

    source: Node
    target: Node
    path: Path
    bytes: int
    seconds: float
    trip: float


@contextlib.contextmanager
def answering(network: Network, lab: Lab) -> Iterator[None]:
    """Every node sends its name to each connection."""
    selector = selectors.DefaultSelector()
    for node in network.nodes.values():
        selector.register(_listen(lab, node, _PORT), selectors.EVENT_READ, node.name)
    stop_read, stop_write = os.pipe()
    selector.register(stop_read, selectors.EVENT_READ, None)

    def serve() -> None:
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    return
                with contextlib.suppress(OSError):
                    client, _ = key.fileobj.accept()  # type: ignore[union-attr]
                    with client:
                        client.sendall(key.data.encode())

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        os.write(stop_write, b"x")
        thread.join()
        for key in list(selector.get_map().values()):
            if key.data is not None:
                key.fileobj.close()  # type: ignore[union-attr]
        selector.close()
        os.close(stop_read)
        os.close(stop_write)


def _listen(lab: Lab, node: Node, port: int) -> socket.socket:
    with kernel.inside(lab.namespace(node.name)):
        listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))
    listener.listen(256)
    return listener


def _socket_of(lab: Lab, node: Node) -> socket.socket:
    with kernel.inside(lab.namespace(node.name)):
        return socket.socket()


def pairs(network: Network, lab: Lab, tries: int = 5) -> list[Pair]:
    """Every ordered pair of nodes. Call this while they are `answering`."""
    found = []
    silent: list[tuple[Node, Node, str]] = []
    for source in network.nodes.values():
        for target in network.nodes.values():
            if source is target:
                continue
            path = network.path(source, target)
            if path is None:
                address = network.address_of(target, source)
                if address:
                    silent.append((source, target, address))
                else:
                    found.append(Pair(source, target, None, None, None))
                continue
            limit = path.rtt + (path.link.jitter * 2 if path.link else 0) + 5
            rtts, name = [], None
            for _ in range(tries):
                rtt, name = _connect(lab, source, path.address, limit)
                rtts += [] if rtt is None else [rtt]
            found.append(Pair(source, target, path, name, min(rtts, default=None)))
    return found + _try_all(network, lab, silent)


def _connect(lab: Lab, source: Node, address: str, limit: float) -> tuple[float | None, str | None]:
    with _socket_of(lab, source) as client:
        client.settimeout(limit)
        try:
            client.connect((address, _PORT))
            return _rtt(client), client.recv(100).decode()
        except OSError:
            return None, None


def _rtt(client: socket.socket) -> float:
    """Seconds from SYN to its answer by the kernel's measurement, without the wake-up of this
    program. `tcpi_rtt` of `struct tcp_info` (linux/tcp.h), microseconds."""
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 72)
    return int(struct.unpack_from("I", info, 68)[0]) / 1e6


def _try_all(network: Network, lab: Lab, wanted: Sequence[tuple[Node, Node, str]]) -> list[Pair]:
    """Tries pairs that should not be connected, all at once: no answer is expected."""
    clients = []
    for source, _, address in wanted:
        client = _socket_of(lab, source)
        client.setblocking(False)
        client.connect_ex((address, _PORT))
        clients.append(client)
    longest = max((2 * (link.delay + link.jitter) for link in network.links), default=0.0)
    time.sleep(longest + _NOT_REACHED)
    found = []
    for client, (source, target, _) in zip(clients, wanted, strict=True):
        name = None
        with client, contextlib.suppress(OSError):
            name = client.recv(100).decode() or None
        found.append(Pair(source, target, None, name, None))
    return found


def flows(network: Network) -> list[tuple[Node, Node]]:
    """The pairs worth a stream: each WAN link both ways, and one node's link of each kind."""
    wanted = []
    for link in network.links:
        ends = [network.nodes[network.segments[site].frontend] for site in (link.a, link.b)]
        wanted += [(ends[0], ends[1]), (ends[1], ends[0])]
    for segment in network.segments.values():
        frontend = network.nodes[segment.frontend]
        for kind in ("node", "zipper"):
            first = next(iter(network.of_site(segment.name, kind)), None)
            if first and (port := first.port_in(segment.name)) and port.rate:
                wanted += [(first, frontend), (frontend, first)]
    return [(a, b) for a, b in wanted if network.path(a, b)]


def flow(network: Network, lab: Lab, source: Node, target: Node, seconds: float) -> Flow:
    """The rate of one stream, once it has had time to grow."""
    path = network.path(source, target)
    assert path
    with _listen(lab, target, _SINK_PORT) as listener, _socket_of(lab, source) as sender:
        child = os.fork()
        if child == 0:
            _pour(sender, path.address)
        try:
            listener.settimeout(10)
            receiver, _ = listener.accept()
            with receiver:
                receiver.settimeout(10)
                _drain(receiver, max(1.0, 60 * path.rtt))
                begin, before = time.monotonic(), _queued(receiver)
                count = _drain(receiver, seconds)
                end, behind = time.monotonic(), _queued(receiver)
                rate = 8 * (count - before + behind) / (end - begin)  # of what arrived meanwhile
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return Flow(source, target, path, path.bottleneck(network.mtu), rate)


def node_links(network: Network) -> list[tuple[Node, Node]]:
    """Each shaped link of a node, both ways: between the node and a frontend at its switch."""
    found = []
    for segment in network.segments.values():
        frontend = network.nodes[segment.frontend]
        for node in network.of_site(segment.name):
            if (port := node.port_in(segment.name)) and port.rate:
                found += [(node, frontend), (frontend, node)]
    return found


def messages(
    network: Network, lab: Lab, source: Node, target: Node, sizes: Sequence[int], tries: int = 10
) -> list[Message]:
    """Messages of these sizes over one connection, each answered by a byte."""
    path = network.path(source, target)
    assert path
    with _listen(lab, target, _SINK_PORT) as listener, _socket_of(lab, source) as sender:
        child = os.fork()
        if child == 0:
            _answer(listener, [1, *sizes], tries)
        try:
            sender.settimeout(10)
            sender.connect((path.address, _SINK_PORT))
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            least = [_least_trip(sender, size, tries) for size in (1, *sizes)]
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    half = least[0] / 2
    return [
        Message(source, target, path, size, trip - half, trip)
        for size, trip in zip(sizes, least[1:], strict=True)
    ]


def _least_trip(sender: socket.socket, size: int, tries: int) -> float:
    """After two that do not count, since the stream must grow."""
    data, trips = bytes(size), []
    for _ in range(2 + tries):
        begin = time.monotonic()
        sender.sendall(data)
        if not sender.recv(1):
            raise OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        trips.append(time.monotonic() - begin)
    return min(trips[2:])


def _answer(listener: socket.socket, sizes: Sequence[int], tries: int) -> None:
    try:
        kernel.die_with_parent()
        listener.settimeout(10)
        receiver, _ = listener.accept()
        receiver.settimeout(10)
        receiver.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        room = bytearray(1 << 20)
        for size in sizes:
            for _ in range(2 + tries):
                left = size
                while left:
                    got = receiver.recv_into(room, min(left, len(room)))
                    if got == 0:
                        return
                    left -= got
                receiver.sendall(b"x")
        time.sleep(10)  # until the other end has read it
    finally:
        os._exit(0)


def _pour(sender: socket.socket, address: str) -> None:
    try:
        kernel.die_with_parent()
        sender.settimeout(10)
        sender.connect((address, _SINK_PORT))
        data = bytes(1 << 18)
        while True:
            sender.sendall(data)
    finally:
        os._exit(0)


def _queued(receiver: socket.socket) -> int:
    """Bytes that have arrived and were not read."""
    return int(struct.unpack("i", fcntl.ioctl(receiver, termios.FIONREAD, bytes(4)))[0])


def _drain(receiver: socket.socket, seconds: float) -> int:
    count, room = 0, bytearray(1 << 20)
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([receiver], [], [], left)[0]:
            got = receiver.recv_into(room)
            if got == 0:
                break
            count += got
    return count
