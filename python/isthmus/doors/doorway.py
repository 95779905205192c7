"""Accepts connections, and bounds what those cost that have not proved who they are: their number
(admission.py), their time, their memory, and what is said of them."""

import asyncio
import contextlib
import errno
import functools
import random
import resource
import socket
import ssl
import struct
import traceback
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace

from isthmus.doors import admission
from isthmus.doors.admission import Admission, Limits, Origin, Tally
from isthmus.errors import RunError

PATIENCE = 10.0  # seconds that a connection has for its proof
MOST_FIRST = 4096  # bytes of a first line
# A handshake of asyncio takes 0.34 MB (November 2026), a connection without one 6 KB.
HANDSHAKES = Limits(total=64, of_network=32, of_site=48)
_RECORD = 5  # bytes of the header of a TLS record
_MOST_RECORD = 1 << 14
_AT_ONCE = 64  # connections that are accepted before others are heard
_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_PAUSE = 0.2  # seconds without accepting, when the system has no room

Factory = Callable[["Place"], asyncio.BaseProtocol]
Greet = Callable[["FirstLine", "Place"], Awaitable[None]]


class Place:
    """That of one connection. Before `proved` it may run out of time, or be dropped."""

    def __init__(self, doorway: "Doorway", connection: socket.socket, origin: Origin) -> None:
        self._doorway = doorway
        self._connection = connection
        self.origin = origin
        self.is_heard = self.is_proved = self.is_dropped = False
        self.timer = asyncio.get_running_loop().call_later(PATIENCE, self.drop)
        self.first: FirstLine | None = None
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def in_time(self) -> None:
        """It has said enough, and has no time limit from now on. It may still be dropped."""
        self.is_heard = True
        self.timer.cancel()

    def proved(self) -> None:
        self.in_time()
        self.is_proved = True
        for each in self._doorway.admissions:
            each.proved(self)

    def may_begin(self) -> None:
        """Its turn for a TLS handshake has come."""
        if not self.turn.done():
            self.turn.set_result(None)

    def drop(self) -> None:
        """Its task ends as it does when the other end goes. A cancelled task would leave a
        transport of asyncio behind, where TLS has just begun."""
        if self.is_proved or self.is_dropped:
            return
        self.is_dropped = True
        self.may_begin()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        if self.first:
            self.first.abort()


class Doorway:
    """Of one kind of connections, from the first to `close`."""

    def __init__(
        self,
        *,
        factory: Factory | None = None,
        greet: Greet | None = None,
        context: ssl.SSLContext | None = None,
        say: Callable[[str], None],
        tell: Callable[[str], None],
        limits: Limits | None = None,
        first_line: int = MOST_FIRST,
    ) -> None:
        """With a `context`, connections speak TLS. Either a `factory` makes their protocols, which
        report the finished handshake as the proof. Or `greet` runs until the proof, or longer.
        `say` is for troubles, `tell` for strangers."""
        self._factory = factory
        self._greet = greet
        self._context = context
        self._say = say
        self._tell = tell
        self._first_line = first_line
        self._places: Admission[Place] = Admission(_affordable(limits or Limits()))
        self._handshakes: Admission[Place] = Admission(HANDSHAKES)
        self.admissions = (self._places, self._handshakes)
        self._tally = Tally()
        self._turns: dict[Hashable, dict[Place, None]] = {}  # by network, the latest last
        self._begins = False  # _begin_next is about to be called
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: socket.socket | None = None
        self._resume: asyncio.TimerHandle | None = None
        self._told_short = False

    def listen(self, listening: socket.socket) -> None:
        listening.setblocking(False)
        self._listening = listening
        asyncio.get_running_loop().add_reader(listening, self._accept)

    def close(self) -> None:
        """All connections end but those that are somebody's."""
        if self._resume:
            self._resume.cancel()
        if self._listening:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
        for place in list(self._places):
            place.drop()

    def _accept(self) -> None:
        assert self._listening
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._listening.accept()
            except OSError as error:
                if error.errno in _SHORT:
                    self._wait_for_room(error)
                return
            try:
                origin = _origin_of(connection)
            except (OSError, ValueError):  # it is gone already
                connection.close()
                continue
            self.receive(connection, origin)

    def _wait_for_room(self, error: OSError) -> None:
        assert self._listening
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listening)
        self._resume = loop.call_later(_PAUSE, loop.add_reader, self._listening, self._accept)
        if self._told_short:
            return
        self._told_short = True
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        own = f"; this process may open {most}, more by `ulimit -n`"
        more = own if error.errno == errno.EMFILE else ""
        self._say(f"connections have to wait: {error.strerror}{more}")

    def receive(self, connection: socket.socket, origin: Origin) -> None:
        """A connection that has come."""
        connection.setblocking(False)
        place = Place(self, connection, origin)
        if dropped := self._places.arrives(place, origin):
            dropped.drop()
        task = asyncio.create_task(self._hear(connection, place))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hear(self, connection: socket.socket, place: Place) -> None:
        try:
            if not self._context or await self._begins_tls(connection, place):
                await self._serve(connection, place)
        except (OSError, ValueError, EOFError, RunError) as error:
            # asyncio's frames hold the error and the TLS object. No collector is to be waited for.
            traceback.clear_frames(error.__traceback__)
        finally:
            for each in self.admissions:
                each.left(place)
            if not place.is_heard:
                place.timer.cancel()
                if said := self._tally.add(asyncio.get_running_loop().time(), place.origin):
                    self._tell(said)

    async def _begins_tls(self, connection: socket.socket, place: Place) -> bool:
        """False: it is closed."""
        begins = False
        try:
            await _client_hello(connection)
            self._turns.setdefault(place.origin.network, {})[place] = None
            self._begin_soon()
            await place.turn
            begins = not place.is_dropped
        finally:
            self._no_turn(place)
            if not begins:
                connection.close()
        return begins

    def _no_turn(self, place: Place) -> None:
        """It does not wait for one any more."""
        waiting = self._turns.get(place.origin.network, {})
        waiting.pop(place, None)
        if not waiting:
            self._turns.pop(place.origin.network, None)

    def _begin_soon(self) -> None:
        if self._turns and not self._begins:
            self._begins = True
            asyncio.get_running_loop().call_soon(self._begin_next)

    def _begin_next(self) -> None:
        """One handshake begins in a turn of the loop, so those under way go on. It is the latest of
        the network with the fewest: where too many come, the oldest would be served too late."""
        self._begins = False
        if not self._turns:
            return
        running = {network: self._handshakes.of(network) for network in self._turns}
        fewest = min(running.values())
        network = random.choice([each for each in running if running[each] == fewest])
        place = next(reversed(self._turns[network]))
        self._no_turn(place)
        if not place.is_dropped:
            if dropped := self._handshakes.arrives(place, place.origin):
                dropped.drop()
            place.may_begin()
        self._begin_soon()

    async def _serve(self, connection: socket.socket, place: Place) -> None:
        """The transport closes the connection."""
        first = FirstLine(self._first_line)
        made = functools.partial(self._factory, place) if self._factory else lambda: first
        place.first = first
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                made, connection, ssl=self._context
            )
            if self._greet:
                await self._greet(first, place)
        finally:
            if not place.is_proved:
                first.abort()


class FirstLine(asyncio.Protocol):
    """Hears a stranger's first line, of at most `most` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._come = asyncio.Event()
        self._got = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def abort(self) -> None:
        if self._transport:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._got += data
        if b"\n" in self._got or len(self._got) > self._most:
            assert self._transport
            self._transport.pause_reading()
            self._come.set()

    def connection_lost(self, _: Exception | None) -> None:
        self._come.set()

    async def streams(self, limit: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Once the first line has come: it is what the reader gives first, of lines of at most
        `limit` bytes. EOFError where it is too long, or does not come."""
        await self._come.wait()
        first, end, _ = self._got.partition(b"\n")
        if not end or len(first) > self._most or not self._transport:
            raise EOFError
        reader = asyncio.StreamReader(limit=limit)
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        reader.feed_data(self._got)
        with contextlib.suppress(RuntimeError):  # it is closing
            self._transport.resume_reading()
        return reader, asyncio.StreamWriter(self._transport, protocol, reader, loop)


def _affordable(limits: Limits) -> Limits:
    """Of the files that this process may open, strangers take a quarter."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most == resource.RLIM_INFINITY:
        return limits
    return replace(limits, total=max(1, min(limits.total, most // 4)))


def _origin_of(connection: socket.socket) -> Origin:
    if connection.family == socket.AF_UNIX:
        about = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return admission.of_user(struct.unpack("3i", about)[1])
    return admission.of_address(connection.getpeername()[0])


async def _client_hello(connection: socket.socket) -> None:
    """Until the first record of TLS has come: whoever says nothing, or says it slowly, gets no TLS
    object. All bytes stay. EOFError where something else comes."""
    head = await _come(connection, _RECORD)
    kind, major, _, size = struct.unpack(">BBBH", head)
    if kind != 22 or major != 3 or not 4 <= size <= _MOST_RECORD:
        raise EOFError
    await _come(connection, _RECORD + size)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


async def _come(connection: socket.socket, size: int) -> bytes:
    """The header, once the kernel has `size` bytes. EOFError at the end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(connection, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(connection)
    head = connection.recv(size, socket.MSG_PEEK)
    if len(head) < size:
        raise EOFError
    return head[:_RECORD]
