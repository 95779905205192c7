"""The command line with which `isthmus` starts itself."""

import sys


def itself() -> list[str]:
    """The words that stand for `isthmus`. The new process reads Python's own variables only if this
    one does."""
    flags = ["-E"] if sys.flags.ignore_environment else []
    flags += ["-X", "utf8"] if sys.flags.utf8_mode else []
    return [sys.executable, *flags, "-m", "isthmus"]
