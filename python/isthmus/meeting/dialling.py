"""How launchers dial other launchers, services and relays: again while the other side may just be
busy or full. The joiner of submitted jobs does the same (queues/joiner.py, which stands alone)."""

import asyncio
import errno
import random
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from isthmus.base.errors import RunError

ATTEMPT = 20.0  # seconds for one attempt
_FIRST, _MOST = 0.25, 5.0  # seconds between attempts
_BUSY = frozenset(
    {errno.EAGAIN, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT}
)
Made = TypeVar("Made")


class FinalError(RunError):
    """The other side has answered, and another attempt changes nothing."""


def may_pass(error: Exception) -> bool:
    """Whether another attempt may succeed."""
    if isinstance(error, socket.gaierror):
        return error.errno == socket.EAI_AGAIN
    if isinstance(error, RunError):
        return not isinstance(error, FinalError)
    if isinstance(error, asyncio.TimeoutError | ssl.SSLEOFError):
        return True
    return isinstance(error, OSError) and error.errno in _BUSY


def pauses() -> Iterator[float]:
    """Seconds before the next attempts. Callers that were turned away together come apart."""
    pause = _FIRST
    while True:
        yield pause * random.uniform(0.5, 1.5)
        pause = min(2 * pause, _MOST)


async def dialled(attempt: Callable[[], Awaitable[Made]], deadline: float) -> Made:
    """The result of the first attempt that succeeds, before `deadline` by the loop's clock. Raises
    the error of the last attempt, or the first one that cannot pass."""
    clock = asyncio.get_running_loop().time
    for pause in pauses():
        try:
            left = max(deadline - clock(), 0.1)
            return await asyncio.wait_for(attempt(), min(ATTEMPT, left))
        except (OSError, RunError, asyncio.TimeoutError) as error:
            if not may_pass(error) or clock() + pause >= deadline:
                raise
        await asyncio.sleep(pause)
    raise AssertionError  # pauses() has no end


def why(error: Exception) -> str:
    """The error in words."""
    return str(error) or "no answer in time"
