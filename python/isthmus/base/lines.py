"""Decides whose bytes may be written: clusters' output mixes between lines, not within them."""

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

# An agent passes on what it has read, which may end within a line. The rest of the line follows at
# once, unless the program writes it slowly (a prompt, a row of dots). 2026-11
KEEP = 0.1


@dataclass
class _Piece:
    source: Hashable
    fd: int
    data: bytes


class Lines:
    """A source with an unfinished line has the floor until it ends the line, or for `KEEP` seconds
    since the line began. A line that lasts longer never has it again. Bytes of other sources wait
    meanwhile, in their order. Each source's bytes keep their order, over all its descriptors. A
    lone source never waits."""

    def __init__(self) -> None:
        self._waiting: deque[_Piece] = deque()
        self._holder: Hashable | None = None
        self._until = 0.0
        self._slow: set[Hashable] = set()  # sources whose unfinished line has had its time

    def __len__(self) -> int:
        """The number of pieces that wait."""
        return len(self._waiting)

    def deadline(self) -> float | None:
        """When `ready` has output even without a `put`; None: never by itself."""
        return self._until if self._waiting else None

    def put(self, source: Hashable, fd: int, data: bytes) -> None:
        """`source` tells one agent from another, and is not None. `data` is not empty."""
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
        """A source has ended a line: its next line comes after the output of the others."""
        own = [other for other in self._waiting if other.source == piece.source]
        others = [other for other in self._waiting if other.source != piece.source]
        self._waiting = deque([*others, _Piece(piece.source, piece.fd, rest), *own])
        self._holder = None
