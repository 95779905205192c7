"""Ports for those who listen later than they are chosen."""

import contextlib
import random
import socket

# The kernel may give higher ports to clients at any time (net.ipv4.ip_local_port_range).
_FIRST, _LAST = 20_000, 32_000


def free_port(count: int = 1) -> int:
    """Returns the first of `count` consecutive free ports. It is chosen at random because other
    tests choose, too."""
    for _ in range(1000):
        first = random.randrange(_FIRST, _LAST - count)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("0.0.0.0", port))
            return first
    raise AssertionError("no free ports")
