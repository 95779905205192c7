"""The name of a port: it names the run, and proves that its holder was given it."""

import os
import re
from dataclasses import dataclass

from isthmus.base import hostport
from isthmus.base.errors import UsageError

PREFIX = "isthmus:"
_SECRET = 16  # bytes
_FORM = r"isthmus:([A-Za-z0-9_.-]{1,40})/([0-9]{1,9})/([0-9a-f]{32})(?:@([!-~]{1,185}))?"


@dataclass(frozen=True)
class PortName:
    """`at` is where the run's launcher listens for other hosts; empty if it does not."""

    job: str
    number: int
    secret: str
    at: str = ""

    def __str__(self) -> str:
        name = f"{PREFIX}{self.job}/{self.number}/{self.secret}"
        return f"{name}@{self.at}" if self.at else name

    @property
    def place(self) -> str:
        """The place of the launcher, for messages."""
        return self.at.partition("/")[0]

    @property
    def shown(self) -> str:
        """For messages, which must not contain the secret."""
        return f"{PREFIX}{self.job}/{self.number}"


def shown(text: str) -> str:
    """As PortName.shown, for any text."""
    port = parse(text)
    return port.shown if port else f"'{text[:80]}'"


def fresh(job: str, number: int, at: str = "") -> PortName:
    return PortName(job, number, os.urandom(_SECRET).hex(), at)


def parse(text: str) -> PortName | None:
    """Returns None if it is not a port of Isthmus."""
    found = re.fullmatch(_FORM, text)
    if not found:
        return None
    job, number, secret, at = found.groups()
    return PortName(job, int(number), secret, at or "")


def place_of(text: str) -> tuple[str, int]:
    """Splits `HOST[:PORT]`; without a port any is taken. UsageError."""
    host, port = hostport.split(text)
    if port is None:
        port = "0"
    if not host or not port.isdecimal() or int(port) > 65535 or len(host) > 100:
        raise UsageError(
            f"--guests-at {text}: not an address",
            "Write HOST or HOST:PORT, as other hosts reach it.",
        )
    return host, int(port)
