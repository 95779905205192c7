"""Accepts connections. Bounds the cost of those that have not proved who they are: their number
(admission.py), their time, their memory, and the log lines about them."""

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

from isthmus.base.errors import RunError
from isthmus.doors import admission
from isthmus.doors.admission import Admission, Limits, Origin, Tally
from isthmus.doors.first_record import client_hello, record_there

PATIENCE = 10.0  # seconds that a connection has for its proof
MOST_FIRST = 4096  # bytes of a first line
# A handshake of asyncio takes 0.34 MB and 2 ms of a processor (November 2026), a connection without
# one 6 KB. Callers who do not name the door have fewer, and they begin at a bounded rate.
HANDSHAKES = Limits(total=64, of_network=32, of_site=48)
NAMELESS = Limits(total=16, of_network=8, of_site=12)
NAMELESS_A_SECOND = 40
_AT_ONCE = 64  # connections that are accepted before others are heard
_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_PAUSE = 0.2  # seconds without accepting, when the system has no room

Factory = Callable[["Place"], asyncio.BaseProtocol]
Greet = Callable[["FirstLine", "Place"], Awaitable[None]]


class Place:
    """That of one connection. Before `proved` it may run out of time, or be dropped."""

    def __init__(self, doorway: "Doorway", connection: socket.socket, origin: Origin) -> None:
        self._doorway = doorway
        self.connection = connection
        self.origin = origin
        self.is_heard = self.is_proved = self.is_dropped = False
        self.timer = asyncio.get_running_loop().call_later(PATIENCE, self.drop)
        self.first: FirstLine | None = None
        self.names_door = False  # its first record has a name of the door
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
            self.connection.shutdown(socket.SHUT_RDWR)
        if self.first:
            self.first.abort()


class _Handshakes:
    """TLS handshakes of one kind of callers: waiting for their turn, and under way."""

    def __init__(self, limits: Limits) -> None:
        self.running: Admission[Place] = Admission(limits)
        self.waiting: dict[Hashable, dict[Place, None]] = {}  # by network, the latest last

    def wait(self, place: Place) -> None:
        self.waiting.setdefault(place.origin.network, {})[place] = None

    def waits_no_more(self, place: Place) -> None:
        of_network = self.waiting.get(place.origin.network, {})
        of_network.pop(place, None)
        if not of_network:
            self.waiting.pop(place.origin.network, None)

    def begin_one(self) -> None:
        """The latest of the network with the fewest under way begins: where too many come, the
        oldest would be served too late."""
        if not self.waiting:
            return
        running = {network: self.running.of(network) for network in self.waiting}
        fewest = min(running.values())
        network = random.choice([each for each in running if running[each] == fewest])
        place = next(reversed(self.waiting[network]))
        self.waits_no_more(place)
        if place.is_dropped:
            return
        if dropped := self.running.arrives(place, place.origin):
            dropped.drop()
        place.may_begin()


class Doorway:
    """Serves one kind of connections, from the first to `close`."""

    def __init__(
        self,
        *,
        factory: Factory | None = None,
        greet: Greet | None = None,
        context: ssl.SSLContext | None = None,
        names: frozenset[str] = frozenset(),
        say: Callable[[str], None],
        tell: Callable[[str], None],
        limits: Limits | None = None,
        first_line: int = MOST_FIRST,
    ) -> None:
        """Connections speak TLS if there is a `context`. Either a `factory` makes their protocols,
        which report the finished handshake as the proof. Or `greet` runs until the proof, or
        longer. Users call the door by one of `names` (`server_name`), and go before others. `say`
        is for troubles, `tell` for strangers."""
        self._factory = factory
        self._greet = greet
        self._context = context
        self._names = [name.encode() for name in names]
        self._say = say
        self._tell = tell
        self._first_line = first_line
        self._places: Admission[Place] = Admission(_affordable(limits or Limits()))
        self._named: Admission[Place] = Admission(_affordable(limits or Limits()))
        self._users = _Handshakes(HANDSHAKES)
        self._nameless = _Handshakes(NAMELESS)
        self.admissions = (self._places, self._named, self._users.running, self._nameless.running)
        self._tally = Tally()
        self._begins = False  # _begin_user is about to be called
        self._pause: asyncio.TimerHandle | None = None  # until _begin_nameless is called
        self._next_nameless = 0.0  # time of the loop
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
        for timer in (self._resume, self._pause):
            if timer:
                timer.cancel()
        if self._listening:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
        for place in [*self._places, *self._named]:
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
        record = record_there(connection) if self._context else None
        place.names_door = self._is_named_in(record)
        self._enter(place)
        if record is None or place.names_door:
            self._begin_task(place)
        else:
            # Most strangers end here, at a fifth of the price of a task (November 2026).
            place.turn.add_done_callback(lambda _: self._turn_has_come(place))
            self._nameless.wait(place)
            self._begin_soon()

    def _is_named_in(self, record: bytes | None) -> bool:
        return record is not None and any(name in record for name in self._names)

    def _enter(self, place: Place) -> None:
        places = self._named if place.names_door else self._places
        if dropped := places.arrives(place, place.origin):
            dropped.drop()

    def _begin_task(self, place: Place) -> None:
        task = asyncio.create_task(self._hear(place))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _turn_has_come(self, place: Place) -> None:
        """The place had no task so far."""
        if place.is_dropped:
            self._nameless.waits_no_more(place)
            place.connection.close()
            self._over(place)
        else:
            self._begin_task(place)

    async def _hear(self, place: Place) -> None:
        try:
            if not self._context or await self._begins_tls(place):
                await self._serve(place)
        except (OSError, ValueError, EOFError, RunError) as error:
            # asyncio's frames hold the error and the TLS object. Free them without the collector.
            traceback.clear_frames(error.__traceback__)
        finally:
            self._over(place)

    def _over(self, place: Place) -> None:
        for each in self.admissions:
            each.left(place)
        if not place.is_heard:
            place.timer.cancel()
            if said := self._tally.add(asyncio.get_running_loop().time(), place.origin):
                self._tell(said)

    async def _begins_tls(self, place: Place) -> bool:
        """False: it is closed."""
        begins = False
        try:
            if not place.turn.done():
                if not place.names_door and self._is_named_in(await client_hello(place.connection)):
                    self._places.left(place)
                    place.names_door = True
                    self._enter(place)
                self._handshakes_of(place).wait(place)
                self._begin_soon()
                await place.turn
            begins = not place.is_dropped
        finally:
            self._handshakes_of(place).waits_no_more(place)
            if not begins:
                place.connection.close()
        return begins

    def _handshakes_of(self, place: Place) -> "_Handshakes":
        return self._users if place.names_door else self._nameless

    def _begin_soon(self) -> None:
        """One handshake of users begins in a turn of the loop, so those under way go on."""
        loop = asyncio.get_running_loop()
        if self._users.waiting and not self._begins:
            self._begins = True
            loop.call_soon(self._begin_user)
        if self._nameless.waiting and not self._pause:
            self._pause = loop.call_at(self._next_nameless, self._begin_nameless)

    def _begin_user(self) -> None:
        self._begins = False
        self._users.begin_one()
        self._begin_soon()

    def _begin_nameless(self) -> None:
        self._pause = None
        self._next_nameless = asyncio.get_running_loop().time() + 1 / NAMELESS_A_SECOND
        self._nameless.begin_one()
        self._begin_soon()

    async def _serve(self, place: Place) -> None:
        """The transport closes the connection."""
        first = FirstLine(self._first_line)
        made = functools.partial(self._factory, place) if self._factory else lambda: first
        place.first = first
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                made, place.connection, ssl=self._context
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
        """Returns after the first line, which the reader gives first, of lines of at most `limit`
        bytes. EOFError where it is too long, or does not come."""
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
    """Strangers take at most a quarter of the files that this process may open."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most == resource.RLIM_INFINITY:
        return limits
    return replace(limits, total=max(1, min(limits.total, most // 4)))


def _origin_of(connection: socket.socket) -> Origin:
    if connection.family == socket.AF_UNIX:
        about = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return admission.of_user(struct.unpack("3i", about)[1])
    return admission.of_address(connection.getpeername()[0])
