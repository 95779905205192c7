"""Where the command begins; `python -m isthmus` is `isthmus`."""

import atexit
import gc
import sys

# What is imported, and what pydantic makes of the grid's tables, stays: looking through it for
# garbage, while it grows and once more at the end, takes 50 of 235 ms (2026-11).
gc.set_threshold(100_000)
atexit.register(gc.freeze)

from isthmus.cli import main  # noqa: E402  (after that)

if __name__ == "__main__":
    sys.exit(main())
