"""An agent that has dialled in; it takes the place of a process with pipes for `Agent`."""

import asyncio
import contextlib
import json
import signal
from collections.abc import Callable
from typing import Any

from isthmus.base import hostport
from isthmus.base.errors import RunError

Message = dict[str, Any]


class ArrivalProtocol(asyncio.StreamReaderProtocol):
    """Reports the end of the connection."""

    def __init__(self, met: Callable[["Arrival"], None], limit: int) -> None:
        reader = asyncio.StreamReader(limit=limit)
        super().__init__(reader)
        self._reader = reader
        self._met = met
        self._arrival: Arrival | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        loop = asyncio.get_running_loop()
        writer = asyncio.StreamWriter(transport, self, self._reader, loop)
        self._arrival = Arrival(self._reader, writer)
        self._met(self._arrival)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._arrival:
            self._arrival.returncode = 0
            self._arrival.exited.set()


class Arrival:
    """One connection. Until `go` both sides speak in single lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.stdin = writer
        self.stdout = reader
        self.stderr = asyncio.StreamReader()
        self.stderr.feed_eof()  # standard error goes to the batch job's output
        self.returncode: int | None = None
        self.pid = 0
        self.exited = asyncio.Event()
        tls = writer.get_extra_info("ssl_object")
        self.certificate: bytes | None = tls.getpeercert(binary_form=True) if tls else None
        self.peer = hostport.shown(str((writer.get_extra_info("peername") or ["?"])[0]))

    async def read(self) -> Message:
        """RunError if no message comes, or not a valid one."""
        try:
            line = await self.stdout.readuntil(b"\n")
            message = json.loads(line)
        except (asyncio.IncompleteReadError, OSError):
            raise RunError("the connection was lost") from None
        except (ValueError, RecursionError, asyncio.LimitOverrunError):
            raise RunError("it sent something that is not a message") from None
        if not isinstance(message, dict):
            raise RunError("it sent something that is not a message")
        return message

    async def tell(self, **message: Any) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self.stdin.write(json.dumps(message).encode() + b"\n")
            await self.stdin.drain()

    def close(self) -> None:
        self.stdin.close()

    def send_signal(self, number: signal.Signals) -> None:
        """The agent ends what it has started when its input ends, and then itself."""
        transport = self.stdin.transport
        if number == signal.SIGKILL:
            transport.abort()
        else:
            transport.close()

    async def wait(self) -> int:
        await self.exited.wait()
        return 0


def left_of(message: Message) -> float | None:
    """The seconds that its batch job has left, as it said."""
    left = message.get("left")
    return float(left) if isinstance(left, (int, float)) else None
