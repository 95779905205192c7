"""Launchers dial again while the other side is busy or full, and no longer than they may."""

import asyncio
import errno
import socket
import struct

import pytest

from isthmus.base.errors import RunError
from isthmus.meeting import calls, dialling, finding
from isthmus.run import portname
from isthmus.run.wire import RefusedError

LONG = 240.0
RESET = struct.pack("ii", 1, 0)  # for SO_LINGER: close() sends a reset


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    monkeypatch.setattr(dialling, "_FIRST", 0.001)


def attempts(*errors):
    """The result of dialling where the attempts fail so, and then succeed."""
    left = list(errors)

    async def attempt():
        if left:
            raise left.pop(0)
        return "made"

    async def go():
        return await dialling.dialled(attempt, asyncio.get_running_loop().time() + LONG)

    return asyncio.run(go())


BUSY = [
    ConnectionResetError(errno.ECONNRESET, "reset"),
    BlockingIOError(errno.EAGAIN, "full"),
    asyncio.TimeoutError(),
    socket.gaierror(socket.EAI_AGAIN, "for now"),
    RunError("the service does not answer"),
]
FINAL = [
    ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
    socket.gaierror(socket.EAI_NONAME, "no such name"),
    calls.RefusedError("the key was revoked"),
]


def test_a_busy_side_is_dialled_again():
    assert attempts(*BUSY) == "made"


@pytest.mark.parametrize("error", FINAL, ids=lambda error: type(error).__name__)
def test_a_final_answer_is_told_at_once(error):
    with pytest.raises(type(error)):
        attempts(error)


def test_pauses_grow_and_differ():
    def first(count):
        found = dialling.pauses()
        return [next(found) for _ in range(count)]

    assert first(20) != first(20)
    assert max(first(100)) <= 7.5


def test_a_full_door_is_named_once_the_time_is_over():
    """It resets all connections, as a door does that has no room."""

    async def go():
        turned = 0

        async def turn_away(_, writer):
            nonlocal turned
            turned += 1
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.close()

        server = await asyncio.start_server(turn_away, "127.0.0.1", 0)
        at = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        port = portname.fresh("job", 1, f"{at}/{32 * 'f'}")
        async with server:
            with pytest.raises(RefusedError, match=f"cannot be reached at {at}, in 1 s: "):
                await finding.launcher(port, 1.0)
        return turned

    assert asyncio.run(go()) > 1
