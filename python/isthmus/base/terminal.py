"""The terminal of this command, which a program that was killed may leave without echo."""

import os
import sys
import termios
from contextlib import suppress
from functools import cache
from typing import Any


@cache
def settings() -> list[Any] | None:
    """Those of the first call; None without a terminal."""
    with suppress(termios.error, OSError, ValueError):
        return termios.tcgetattr(sys.stdin.fileno())
    return None


def restore() -> None:
    """Makes them those of `settings` again, unless this command is in the background."""
    with suppress(termios.error, OSError, ValueError):
        terminal = sys.stdin.fileno()
        if (known := settings()) and os.tcgetpgrp(terminal) == os.getpgrp():
            termios.tcsetattr(terminal, termios.TCSANOW, known)
