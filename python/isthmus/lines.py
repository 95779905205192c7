"""Whose bytes may be written now: the clusters' output is mixed between lines, not within them."""

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

# An agent passes on what it read, which may end within a line; the line's other end follows it at
# once, unless the program is slow to write it (a prompt, a row of dots). 2026-11
KEEP = 0.1


@dataclass
class _Piece:
    source: Hashable
    fd: int
    data: bytes


class Lines:
    """The source whose line is unfinished has the floor until it ends the line, or for `KEEP`
    seconds since the line began; a line that lasts longer never has it again. What others say
    meanwhile waits, in its order. Every source's own bytes keep their order, over all its
    descriptors; a lone source never waits."""

    def __init__(self) -> None:
        self._waiting: deque[_Piece] = deque()
        self._holder: Hashable | None = None
        self._until = 0.0
        self._slow: set[Hashable] = set()  # whose unfinished line has had its time

    def __len__(self) -> int:
        """Pieces that wait."""
        return len(self._waiting)

    def deadline(self) -> float | None:
        """When `ready` has something to say even without a `put`; None: not by itself."""
        return self._until if self._waiting else None

    def put(self, source: Hashable, fd: int, data: bytes) -> None:
        """`source`: whatever tells one agent from another, but None. `data` is not empty."""
        self._waiting.append(_Piece(source, fd, data))

    def ready(self, now: float) -> Iterator[tuple[int, bytes]]:
        """(descriptor, bytes) to be written at `now`, in seconds of a clock of the caller's."""
        while piece := self._next(now):
            going_on = piece.source == self._holder
            end = piece.data.rfind(b"\n") + 1
            if going_on and 0 < end < len(piece.data) and self._others_wait(piece.source):
                self._last(piece, piece.data[end:])
                yield piece.fd, piece.data[:end]
                continue
            if end:
                self._slow.discard(piece.source)
            if end == len(piece.data):
                self._holder = None
            elif end or not (going_on or piece.source in self._slow):
                self._holder, self._until = piece.source, now + KEEP
            yield piece.fd, piece.data

    def _next(self, now: float) -> _Piece | None:
        if self._holder is not None and now >= self._until:
            self._slow.add(self._holder)
            self._holder = None
        for piece in self._waiting:
            if self._holder in (None, piece.source):
                self._waiting.remove(piece)
                return piece
        return None

    def _others_wait(self, source: Hashable) -> bool:
        return any(piece.source != source for piece in self._waiting)

    def _last(self, piece: _Piece, rest: bytes) -> None:
        """The next line of who has ended one comes after what the others have to say."""
        own = [other for other in self._waiting if other.source == piece.source]
        others = [other for other in self._waiting if other.source != piece.source]
        self._waiting = deque([*others, _Piece(piece.source, piece.fd, rest), *own])
        self._holder = None
