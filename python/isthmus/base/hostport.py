"""HOST:PORT as people write it, and sockets for both kinds of IP."""

import contextlib
import socket

_BACKLOG = 4096  # connections that wait to be accepted


def split(text: str) -> tuple[str, str | None]:
    """Splits `HOST`, `HOST:PORT`, `[IPV6]`, `[IPV6]:PORT` or a bare IPv6 address into the host,
    without brackets, and the port. The port is None if no colon stands before it."""
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if closed and rest[:1] in ("", ":"):
            return host, rest[1:] if rest else None
        return "", text
    if text.count(":") > 1:
        return text, None
    host, colon, port = text.partition(":")
    return host, port if colon else None


def join(host: str, port: object) -> str:
    """Puts brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listening(port: int) -> socket.socket:
    """A socket for connections by IPv4, and by IPv6 if the host has it. OSError."""
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):  # the kernel has it, but no address
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=_BACKLOG
            )
    return socket.create_server(("", port), backlog=_BACKLOG)


def shown(address: str) -> str:
    """The usual form of an IPv4 address that comes to a socket for both kinds."""
    return address.removeprefix("::ffff:")
