"""Calls through a service or a relay, as launchers make and await them (docs/protocol.md, "By way
of a service"); gateways have their own (src/net/door/service.hpp)."""

import asyncio
import contextlib
import hashlib
import hmac
import secrets
import socket
import struct
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from isthmus.base.errors import RunError
from isthmus.meeting.dialling import FinalError, pauses

LAUNCHER = 0  # the node number of a launcher; gateways have higher ones
_AWAIT, _CALL, _TAKE = 1, 2, 3
_BEAT = 10.0  # seconds within which a service gives a sign of life
_LIMIT = 5.0
_NONCE = 32
_LAST_VERDICT = 4  # docs/protocol.md
_MOST_TAKING = 64  # calls being taken; further callers try again
_CALL_WAITS = 10.0  # seconds that a call waits at the service until it is taken


class RefusedError(FinalError):
    """The service has answered, and not granted it."""


@dataclass(frozen=True)
class Service:
    """The place of a service, and the proof of whose guests these are."""

    at: str
    name: str
    secret: bytes


async def call(service: Service, node: int) -> socket.socket:
    """Connects to the process that awaits calls there as `node`. RunError."""
    return await _ask(service, _CALL, node, 0, 3 * _LIMIT)


async def wait_for_calls(
    service: Service,
    node: int,
    called: Callable[[socket.socket], Awaitable[None]],
    ready: Callable[[Exception | None], None],
) -> None:
    """Runs until it is cancelled, and again whenever the service is lost. Each time that it waits,
    `ready` gets None, or the reason why it cannot wait for now."""
    taking: set[asyncio.Task[None]] = set()
    pause = pauses()

    async def take(number: int) -> None:
        """A connection that is lost before the answer is opened again: the caller waits."""
        deadline = time.monotonic() + _CALL_WAITS
        for again in pauses():
            try:
                connection = await _ask(service, _TAKE, node, number, _LIMIT)
            except RefusedError:
                return  # the caller tries again
            except RunError:
                if time.monotonic() + again > deadline:
                    return
                await asyncio.sleep(again)
                continue
            with contextlib.suppress(RunError, OSError):
                await called(connection)
            return

    while True:
        try:
            line = await _ask(service, _AWAIT, node, 0, _LIMIT)
            with line:
                ready(None)
                pause = pauses()
                while True:
                    (number,) = struct.unpack("<Q", await _read(line, 8, 3 * _BEAT))
                    if number and len(taking) < _MOST_TAKING:
                        task = asyncio.create_task(take(number))
                        taking.add(task)
                        task.add_done_callback(taking.discard)
        except RunError as error:
            ready(error)
        except (OSError, asyncio.TimeoutError) as error:
            ready(RunError(str(error) or f"the service {service.at} has fallen silent"))
        await asyncio.sleep(next(pause))


async def _ask(service: Service, verb: int, node: int, number: int, limit: float) -> socket.socket:
    try:
        connection = await _connected(service.at)
    except (OSError, ValueError, asyncio.TimeoutError) as error:
        raise RunError(
            f"the service {service.at} cannot be reached: {error or 'no answer in time'}"
        ) from None
    try:
        await _prove(connection, service)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(connection, struct.pack("<B3xIQ", verb, node, number))
        verdict, size = await _read(connection, 2, limit)
        sentence = (await _read(connection, size, _LIMIT)).decode(errors="replace")
        if verdict:
            raise RefusedError(f"the service {service.at} says: {sentence}")
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError | asyncio.TimeoutError):
            said = str(error) or "no answer in time"
            raise RunError(f"the service {service.at} does not answer: {said}") from None
        raise
    return connection


async def _connected(at: str) -> socket.socket:
    host, _, port = at.rpartition(":")
    loop = asyncio.get_running_loop()
    failure: Exception = OSError("the host has no address")
    for family, kind, number, _, address in await asyncio.wait_for(
        loop.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM), _LIMIT
    ):
        connection = socket.socket(family, kind, number)
        connection.setblocking(False)
        try:
            await asyncio.wait_for(loop.sock_connect(connection, address), _LIMIT)
        except (OSError, asyncio.TimeoutError) as error:
            connection.close()
            failure = error
            continue
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection
    raise failure


async def _prove(connection: socket.socket, service: Service) -> None:
    """Proves the key by challenge and response (docs/protocol.md). RunError."""
    name = service.name.encode()
    opening = b"ISTHMUS\n\1" + bytes([len(name)]) + name
    nonce = secrets.token_bytes(_NONCE)

    def proof(role: bytes, theirs: bytes) -> bytes:
        text = b"isthmus/1 " + role + b"\0" + bytes([len(name)]) + name + nonce + theirs
        return hmac.new(service.secret, text, hashlib.sha256).digest()

    loop = asyncio.get_running_loop()
    await loop.sock_sendall(connection, opening + nonce)
    challenge = await _read(connection, 1 + _NONCE, _LIMIT)
    if challenge[0] > _LAST_VERDICT:
        raise RefusedError(
            f"the service {service.at} does not answer as Isthmus does: something else listens "
            "there"
        )
    if not challenge[0]:
        await loop.sock_sendall(connection, proof(b"client", challenge[1:]))
        shown = await _read(connection, 1 + _NONCE, _LIMIT)
        if not shown[0] and hmac.compare_digest(shown[1:], proof(b"server", challenge[1:])):
            return
    key = service.name.partition("/")[0]
    raise RefusedError(
        f"the service {service.at} does not take the key {key}: it does not know the key, or "
        "has another secret for it (ask its administrator for a new one)"
    )


async def _read(connection: socket.socket, size: int, limit: float) -> bytes:
    """Reads this number of bytes. OSError at the end, TimeoutError."""

    async def all_of_it() -> bytes:
        got = b""
        while len(got) < size:
            piece = await asyncio.get_running_loop().sock_recv(connection, size - len(got))
            if not piece:
                raise OSError("it has closed the connection")
            got += piece
        return got

    return await asyncio.wait_for(all_of_it(), limit)
