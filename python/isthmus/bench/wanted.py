"""Whom `--only` leaves in."""

import sys
from collections.abc import Sequence
from fnmatch import fnmatch

from isthmus.errors import UsageError, listing


class Wanted:
    """Asked about each contestant that there could be, by its key."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._asked: dict[str, bool] = {}

    def __call__(self, key: str) -> bool:
        fits = not self._patterns or any(fnmatch(key, pattern) for pattern in self._patterns)
        self._asked[key] = fits
        return fits

    def check(self) -> None:
        """After all were asked about. UsageError, with those there are, where no pattern fits;
        where one of several does not, that is said."""
        idle = [
            pattern
            for pattern in self._patterns
            if not any(fnmatch(key, pattern) for key in self._asked)
        ]
        if not self._asked or not idle:
            return
        sentence = (
            f"--only {' '.join(idle)}: no contestant is called so; there are {listing(self._asked)}"
        )
        if not any(self._asked.values()):
            raise UsageError(sentence)
        print(f"isthmus bench: {sentence}", file=sys.stderr, flush=True)
