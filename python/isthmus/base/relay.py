"""Bytes between the terminal and the job, in threads of their own. A terminal that does not read,
or writes slowly, must not keep the launcher from hearing signals and agents."""

import asyncio
import contextlib
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Hashable

from isthmus.base.lines import Lines

_CHUNK = 1 << 16
_QUEUED = 64


class OutputRelay:
    """Writes in the order of `put`, except for lines that others had begun (`Lines`). If the reader
    is gone (SIGPIPE), it calls `on_broken` once, and drops all later output."""

    def __init__(self, on_broken: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._space = asyncio.Semaphore(_QUEUED)
        self._queue: queue.SimpleQueue[tuple[Hashable, int, bytes] | None] = queue.SimpleQueue()
        self._lines = Lines()
        self._on_broken = on_broken
        self._drained = asyncio.Event()
        self._broken = False
        self._thread = threading.Thread(target=self._write_all, daemon=True)
        self._thread.start()

    async def put(self, source: Hashable, fd: int, data: bytes) -> None:
        """Returns at once while less than a bounded number of chunks waits to be written. `source`
        is whose lines these are."""
        if not data:
            return
        await self._space.acquire()
        self._queue.put((source, fd, data))

    async def drain(self) -> None:
        """Returns when all is written; no `put` after this."""
        self._queue.put(None)
        await self._drained.wait()

    def _write_all(self) -> None:
        more = True
        while more:
            before = len(self._lines)
            with contextlib.suppress(queue.Empty):
                item = self._queue.get(timeout=self._patience())
                more = item is not None
                if item:
                    self._lines.put(*item)
                    before += 1
            for fd, data in self._lines.ready(time.monotonic() if more else math.inf):
                self._write(fd, data)
            for _ in range(before - len(self._lines)):
                self._tell(self._space.release)
        self._tell(self._drained.set)

    def _patience(self) -> float | None:
        deadline = self._lines.deadline()
        return None if deadline is None else max(0.0, deadline - time.monotonic())

    def _write(self, fd: int, data: bytes) -> None:
        if self._broken:
            return
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        except OSError:
            self._broken = True
            self._tell(self._on_broken)

    def _tell(self, what: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
            self._loop.call_soon_threadsafe(what)


def stdin_is_ours() -> bool:
    """False for a terminal whose foreground is another job: reading it would stop us."""
    try:
        if not os.isatty(0):
            os.fstat(0)
            return True
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


class InputRelay:
    """Passes standard input to `send(data)`, then `send(None)` at its end. It reads the next piece
    when the last one has been taken."""

    def __init__(self, send: Callable[[bytes | None], Awaitable[None]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._send = send
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._credit = threading.Semaphore(2)
        self._task = asyncio.create_task(self._forward())
        threading.Thread(target=self._read_all, daemon=True).start()

    def stop(self) -> None:
        """Forwards nothing more. The thread may stay in a read of the terminal; it is a daemon."""
        self._task.cancel()

    async def _forward(self) -> None:
        while True:
            data = await self._queue.get()
            await self._send(data)
            if data is None:
                return
            self._credit.release()

    def _read_all(self) -> None:
        data: bytes | None = b""
        while data is not None:
            self._credit.acquire()
            try:
                data = os.read(0, _CHUNK) or None
            except OSError:
                data = None
            try:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, data)
            except RuntimeError:  # the loop has ended
                return


class Voice:
    """The launcher's own messages, on standard error."""

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose

    def say(self, sentence: str) -> None:
        print(f"isthmus: {sentence}", file=sys.stderr, flush=True)

    def warn(self, sentence: str) -> None:
        self.say(f"warning: {sentence}")

    def narrate(self, sentence: str) -> None:
        if self.verbose:
            self.say(sentence)
