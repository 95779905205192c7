"""The command's own standard output and error, in any locale.

Names and arguments hold any bytes, and Python has those that are not UTF-8 as lone surrogates.
"""

from __future__ import annotations

import codecs
import io
import locale
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from typing_extensions import Buffer


def _as_they_were(error: UnicodeError) -> tuple[str | bytes, int]:
    """Writes bytes of names as they came, and escapes characters that a locale lacks."""
    assert isinstance(error, UnicodeEncodeError)
    one = error.object[error.start]
    if "\udc80" <= one <= "\udcff":
        return bytes([ord(one) & 0xFF]), error.start + 1
    return one.encode("ascii", "backslashreplace").decode(), error.start + 1


codecs.register_error("isthmus.base.streams", _as_they_were)


def prepare() -> None:
    """Call this before anything is opened or printed. In UTF-8 mode Python's streams ignore the
    encoding of the locale, which a terminal may need."""
    _replace_closed()
    encoding = locale.nl_langinfo(locale.CODESET)
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue  # a caller's own
        of_locale = encoding if sys.flags.utf8_mode and _is_known(encoding) else None
        stream.reconfigure(encoding=of_locale, errors="isthmus.base.streams")
    sys.stderr = _Patient.of(sys.stderr)


class _Patient(io.RawIOBase):
    """Standard error, also once nobody reads it: a terminal that has been closed, a pipe. It
    drops the text then, and the command goes on to its own exit status."""

    @classmethod
    def of(cls, stream: TextIO) -> TextIO:
        if not isinstance(stream, io.TextIOWrapper):
            return stream
        return io.TextIOWrapper(
            io.BufferedWriter(cls()), stream.encoding, stream.errors, line_buffering=True
        )

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def isatty(self) -> bool:
        return os.isatty(2)

    def write(self, data: Buffer) -> int:
        view = memoryview(data)
        try:
            return os.write(2, view)
        except BlockingIOError:
            select.select([], [2], [])
            return 0
        except OSError:
            return len(view)


def _replace_closed() -> None:
    """Keeps a file or pipe that is opened later from becoming the standard output."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(null, True)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _is_known(encoding: str) -> bool:
    """ASCII counts as unknown: terminals show UTF-8 in the locales C and POSIX all the same."""
    try:
        return codecs.lookup(encoding).name not in ("ascii", "utf-8")
    except LookupError:
        return False
