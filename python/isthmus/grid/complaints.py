"""The errors of one grid file, each with file, line and key."""

from collections.abc import Iterable

from isthmus.base.errors import UsageError, joined
from isthmus.grid import gridtext

Complaint = tuple[gridtext.Path, str]  # the key, and its error


class Complaints:
    """Collects errors, and raises them together."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name
        self._found: list[tuple[int, UsageError]] = []
        self._wrong: set[gridtext.Path] = set()
        self._doubtful: set[gridtext.Path] = set()

    def add(self, key: gridtext.Path, what: str) -> None:
        if key[:2] in self._doubtful:
            return
        line = gridtext.line_of(self._text, key)
        where = f"{self._name}:{line}" if line else self._name
        error = UsageError(f"{where}: {gridtext.written(key)} {what}")
        self._found.append((line or 0, error))
        self._wrong.add(key[:2])

    def extend(self, complaints: Iterable[Complaint]) -> None:
        for key, what in complaints:
            self.add(key, what)

    def take(self, line: int | None, error: UsageError) -> None:
        """An error of a file that this one includes at that line."""
        self._found.append((line or 0, error))

    def doubt(self) -> None:
        """Ignores later errors in tables that have one already: it may have caused them."""
        self._doubtful |= self._wrong

    def error(self) -> UsageError:
        """All errors, of which there must be one, in the order of their lines."""
        return joined([error for _, error in sorted(self._found, key=lambda found: found[0])])

    def check(self) -> None:
        """Raises what was found, if anything."""
        if self._found:
            raise self.error()
