"""The first record of TLS, which a door reads before it spends anything on a handshake."""

import asyncio
import contextlib
import socket
import struct

_RECORD = 5  # bytes of the header of a TLS record
_MOST_RECORD = 1 << 14


def _size_of_record(head: bytes) -> int:
    """With its header. EOFError where it does not begin a handshake of TLS."""
    kind, major, _, size = struct.unpack(">BBBH", head)
    if kind != 22 or major != 3 or not 4 <= size <= _MOST_RECORD:
        raise EOFError
    return _RECORD + int(size)


def record_there(connection: socket.socket) -> bytes | None:
    """The first record of TLS, if it has come already. All bytes stay."""
    with contextlib.suppress(OSError, EOFError):
        come = connection.recv(_RECORD + _MOST_RECORD, socket.MSG_PEEK)
        if len(come) >= _RECORD and len(come) >= _size_of_record(come[:_RECORD]):
            return come
    return None


async def client_hello(connection: socket.socket) -> bytes:
    """The first record of TLS, once it has come. A caller that says nothing, or says it slowly,
    gets no TLS object. All bytes stay. EOFError where something else comes."""
    size = _size_of_record(await _come(connection, _RECORD))
    record = await _come(connection, size)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
    return record


async def _come(connection: socket.socket, size: int) -> bytes:
    """The first `size` bytes, once the kernel has them. EOFError at the end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    number = connection.fileno()  # of a socket asyncio would look up its addresses, to no end
    loop.add_reader(number, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(number)
    head = connection.recv(size, socket.MSG_PEEK)
    if len(head) < size:
        raise EOFError
    return head
