"""Ports for those who listen later than they are chosen."""

import contextlib
import random
import socket

# The kernel gives those above to whoever connects (net.ipv4.ip_local_port_range), at any time.
_FIRST, _LAST = 20_000, 32_000


def free_port(count: int = 1) -> int:
    """The first of so many in a row that nobody has now, at random: other tests choose, too."""
    for _ in range(1000):
        first = random.randrange(_FIRST, _LAST - count)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("0.0.0.0", port))
            return first
    raise AssertionError("no free ports")
