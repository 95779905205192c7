"""The place where launchers on other hosts find this run's launcher: a TCP port, or calls by a
service or a relay. TLS shows a certificate that the name of each MPI port vouches for."""

import asyncio
import contextlib
import json
import socket
import ssl

from isthmus.base import hostport
from isthmus.base.errors import RunError
from isthmus.base.relay import Voice
from isthmus.doors.admission import Origin
from isthmus.doors.doorway import Doorway, FirstLine, Place
from isthmus.doors.keys import make_key, mark_of, server_context, server_name
from isthmus.meeting import calls
from isthmus.meeting.calls import LAUNCHER, Service
from isthmus.meeting.dialling import may_pass
from isthmus.run.portname import PortName, place_of
from isthmus.run.wire import MOST_LINE
from isthmus.seeing.lookout import Welcome

_BY_SERVICE = "service:"
_OPENING = 60.0  # seconds in which a service has to take the first words of a run
_MARK = 32  # hexadecimal digits of a certificate's hash, 128 bits


class Door:
    """From `open` to `close`."""

    def __init__(self, welcome: Welcome, voice: Voice) -> None:
        """`welcome` is given who has said `meet`."""
        self._welcome = welcome
        self._voice = voice
        self._doorway: Doorway | None = None
        self._called: asyncio.Task[None] | None = None

    async def open(self, host: str, port: int) -> str:
        """Returns the text after the `@` in names of ports. RunError where it cannot listen."""
        try:
            listening = hostport.listening(port)
        except OSError as error:
            raise RunError(
                f"no port for guests can be opened at {host}: {error.strerror or error}",
                "Take another by --guests-at HOST:PORT, or leave the port out.",
            ) from None
        doorway, mark = self._made()
        doorway.listen(listening)
        real = listening.getsockname()[1]
        return f"{hostport.join(host, real)}/{mark}"

    async def open_at(self, service: Service) -> str:
        """As `open`, for calls by that service. RunError where it does not take them."""
        doorway, mark = self._made()
        origin = Origin(service.at, service.at, f"the service {service.at}")
        loop = asyncio.get_running_loop()
        first: asyncio.Future[Exception | None] = loop.create_future()
        deadline = loop.time() + _OPENING

        def told(trouble: Exception | None) -> None:
            if first.done() or (trouble and may_pass(trouble) and loop.time() < deadline):
                return
            first.set_result(trouble)

        async def welcome(connection: socket.socket) -> None:
            doorway.receive(connection, origin)

        self._called = asyncio.create_task(calls.wait_for_calls(service, LAUNCHER, welcome, told))
        if trouble := await first:
            raise RunError(f"guests cannot come by {service.at}: {trouble}")
        key = service.name.partition("/")[0]
        return f"{_BY_SERVICE}{service.at}/{key}/{service.secret.hex()}/{mark}"

    def close(self) -> None:
        if self._doorway:
            self._doorway.close()
        if self._called:
            self._called.cancel()

    def _made(self) -> tuple[Doorway, str]:
        """The doorway, and the mark of its certificate."""
        context, mark = _credentials()
        self._doorway = Doorway(
            greet=self._greet, context=context, names=frozenset([server_name(mark)]),
            say=self._voice.warn, tell=self._voice.narrate,
        )  # fmt: skip
        return self._doorway, mark

    async def _greet(self, first: FirstLine, place: Place) -> None:
        reader, writer = await first.streams(MOST_LINE)
        said = json.loads(await reader.readline())
        if isinstance(said, dict) and said.get("ask") == "meet":
            if await self._welcome(said, reader, writer):
                place.proved()
            else:
                await writer.wait_closed()  # the answer arrives first


async def dial(port: PortName) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connects to a place that `open` or `open_at` has returned. OSError, also if another process
    has the port now; RunError of a service."""
    place, _, mark = port.at.rpartition("/")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the mark identifies it
    if place.startswith(_BY_SERVICE):
        service = _service(place, port.job)
        connection = await calls.call(service, LAUNCHER)
        reader, writer = await asyncio.open_connection(
            sock=connection, ssl=context, server_hostname=server_name(mark), limit=MOST_LINE
        )
    else:
        host, number = place_of(place)
        reader, writer = await asyncio.open_connection(
            host, number, ssl=context, server_hostname=server_name(mark), limit=MOST_LINE
        )
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    if not shown or mark_of(shown)[:_MARK] != mark:
        writer.transport.abort()
        raise OSError("another run or program has that port")
    return reader, writer


def guests_of(job: str) -> str:
    """The name by which services and relays know the guests of a run."""
    return f"{job}.guests"


def _service(place: str, job: str) -> Service:
    """OSError if the text is malformed."""
    parts = place.removeprefix(_BY_SERVICE).split("/")
    with contextlib.suppress(ValueError):
        at, key, secret = parts
        return Service(at, f"{key}/{guests_of(job)}", bytes.fromhex(secret))
    raise OSError("the name of the port is damaged")


def _credentials() -> tuple[ssl.SSLContext, str]:
    """A certificate for this run alone."""
    key = make_key()
    return server_context(key), key.mark[:_MARK]
