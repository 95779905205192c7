"""The entry point of the command: `python -m isthmus` is `isthmus`."""

import atexit
import gc
import os
import sys

# Imported modules and pydantic's models of the grid tables stay in memory. Searching them for
# garbage, while they grow and again at the end, takes 50 of 235 ms (2026-11).
gc.set_threshold(100_000)
atexit.register(gc.freeze)

from isthmus.base import streams  # noqa: E402  (after that)
from isthmus.cli import entry  # noqa: E402  (after that)


def main() -> int:
    """Returns the exit status."""
    if sys.getfilesystemencoding() != "utf-8":  # else arguments would lose bytes
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    streams.prepare()
    return entry.main()


if __name__ == "__main__":
    sys.exit(main())
