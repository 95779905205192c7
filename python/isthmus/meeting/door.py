"""The place where launchers on other hosts find this run's launcher: a TCP port, or calls by a
service or a relay. TLS shows a certificate that the name of each MPI port vouches for."""

import asyncio
import contextlib
import hashlib
import json
import socket
import ssl
import tempfile
from pathlib import Path

from isthmus import hostport
from isthmus.errors import RunError
from isthmus.meeting import calls
from isthmus.meeting.calls import LAUNCHER, Service
from isthmus.meeting.portname import PortName, place_of
from isthmus.meeting.wire import MOST_LINE
from isthmus.queues.keys import make_key
from isthmus.seeing.lookout import Welcome

_HELLO_LIMIT = 10.0  # seconds that a connection has for TLS, and again to name itself
_MOST_WAITING = 64
_BY_SERVICE = "service:"
_MARK = 32  # hexadecimal digits of a certificate's hash, 128 bits


def mark_of(certificate: bytes) -> str:
    return hashlib.sha256(certificate).hexdigest()[:_MARK]


class Door:
    """From `open` to `close`."""

    def __init__(self, welcome: Welcome) -> None:
        """`welcome` gets each connection that has said `meet`."""
        self._welcome = welcome
        self._server: asyncio.Server | None = None
        self._called: asyncio.Task[None] | None = None
        self._waiting = 0

    async def open(self, host: str, port: int) -> str:
        """Returns what names of ports say about it, after their `@`. RunError if it cannot
        listen."""
        context, mark = _credentials()
        try:
            self._server = await asyncio.start_server(
                self._serve,
                sock=hostport.listening(port),
                ssl=context,
                ssl_handshake_timeout=_HELLO_LIMIT,
                limit=MOST_LINE,
            )
        except OSError as error:
            raise RunError(
                f"no port for guests can be opened at {host}: {error.strerror or error}",
                "Take another by --guests-at HOST:PORT, or leave the port out.",
            ) from None
        real = self._server.sockets[0].getsockname()[1]
        return f"{hostport.join(host, real)}/{mark}"

    async def open_at(self, service: Service) -> str:
        """As `open`, for calls by that service. RunError if it does not take them."""
        context, mark = _credentials()
        loop = asyncio.get_running_loop()
        first: asyncio.Future[str] = loop.create_future()

        def told(trouble: str) -> None:
            if not first.done():
                first.set_result(trouble)

        async def welcome(connection: socket.socket) -> None:
            reader = asyncio.StreamReader(limit=MOST_LINE)
            await loop.connect_accepted_socket(
                lambda: asyncio.StreamReaderProtocol(reader, self._serve),
                connection,
                ssl=context,
                ssl_handshake_timeout=_HELLO_LIMIT,
            )

        self._called = asyncio.create_task(calls.wait_for_calls(service, LAUNCHER, welcome, told))
        if trouble := await first:
            raise RunError(f"guests cannot come by {service.at}: {trouble}")
        key = service.name.partition("/")[0]
        return f"{_BY_SERVICE}{service.at}/{key}/{service.secret.hex()}/{mark}"

    def close(self) -> None:
        if self._server:
            self._server.close()
        if self._called:
            self._called.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept = False
        self._waiting += 1
        try:
            if self._waiting > _MOST_WAITING:
                return
            with contextlib.suppress(OSError, ValueError, asyncio.TimeoutError):
                said = json.loads(await asyncio.wait_for(reader.readline(), _HELLO_LIMIT))
                if isinstance(said, dict) and said.get("ask") == "meet":
                    kept = True
                    await self._welcome(said, reader, writer)
        finally:
            self._waiting -= 1
            if not kept:
                writer.close()


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
            sock=connection, ssl=context, server_hostname="", limit=MOST_LINE
        )
    else:
        host, number = place_of(place)
        reader, writer = await asyncio.open_connection(host, number, ssl=context, limit=MOST_LINE)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    if not shown or mark_of(shown) != mark:
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
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    certificate = key[key.index(begin) : key.index(end) + len(end)]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with tempfile.TemporaryDirectory() as folder:  # readable by the user alone
        file = Path(folder) / "key.pem"
        file.write_text(key)
        context.load_cert_chain(file)
    return context, mark_of(ssl.PEM_cert_to_DER_cert(certificate))
