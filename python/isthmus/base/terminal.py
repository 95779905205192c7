"""The terminal of this command, which a program that was killed may leave without echo."""

import os
import termios
from contextlib import suppress
from functools import cache
from typing import Any

_INPUT = 0  # sys.stdin is None if it was closed


@cache
def settings() -> list[Any] | None:
    """Returns the settings of the first call, or None without a terminal."""
    with suppress(termios.error):
        return termios.tcgetattr(_INPUT)
    return None


def restore() -> None:
    """Sets those of `settings` again, unless this command is in the background."""
    with suppress(termios.error, OSError):
        if (known := settings()) and os.tcgetpgrp(_INPUT) == os.getpgrp():
            termios.tcsetattr(_INPUT, termios.TCSANOW, known)
