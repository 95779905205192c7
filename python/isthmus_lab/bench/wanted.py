"""The contestants that `--only` selects."""

import sys
from collections.abc import Sequence
from fnmatch import fnmatch

from isthmus.base.errors import UsageError, listing


class Wanted:
    """Asked about each possible contestant, by its key."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._asked: dict[str, bool] = {}

    @property
    def chosen(self) -> bool:
        """There are patterns."""
        return bool(self._patterns)

    def __call__(self, key: str) -> bool:
        fits = not self._patterns or any(fnmatch(key, pattern) for pattern in self._patterns)
        self._asked[key] = fits
        return fits

    def check(self) -> None:
        """Call this after all were asked about. UsageError, with the known names, if no pattern
        fits. If only some do not fit, that is reported."""
        idle = [
            pattern
            for pattern in self._patterns
            if not any(fnmatch(key, pattern) for key in self._asked)
        ]
        if not self._asked or not idle:
            return
        sentence = (
            f"--only {' '.join(idle)}: unknown contestant; contestants are {listing(self._asked)}"
        )
        if not any(self._asked.values()):
            raise UsageError(sentence)
        print(f"isthmus bench: {sentence}", file=sys.stderr, flush=True)
