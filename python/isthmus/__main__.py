"""Where the command begins; `python -m isthmus` is `isthmus`."""

import atexit
import gc
import os
import sys

# What is imported, and what pydantic makes of the grid's tables, stays: looking through it for
# garbage, while it grows and once more at the end, takes 50 of 235 ms (2026-11).
gc.set_threshold(100_000)
atexit.register(gc.freeze)

from isthmus import cli, streams  # noqa: E402  (after that)


def main() -> int:
    """The exit status."""
    if sys.getfilesystemencoding() != "utf-8":  # else arguments would not be their own bytes
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    streams.prepare()
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
