"""Dumps of traces (src/core/trace): text that explains the numbers, then the records."""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path

from isthmus.base.errors import UsageError

_MAGIC = "isthmus-trace 1"
_RECORDS = b"\nrecords\n"
_WORDS = 8  # of a record: number, time, event and thread, five fields
_GATEWAY, _NOBODY = 0x80000000, 0xFFFFFFFF
_NODES = ("peer", "from", "to", "destination")  # fields that name a party of the network


@dataclass(frozen=True)
class Event:
    subsystem: str
    name: str
    fields: list[str]


@dataclass(frozen=True)
class Record:
    time: int  # nanoseconds since 1970
    process: str
    thread: int
    subsystem: str
    name: str
    values: dict[str, int]
    text: str  # the values as printed


@dataclass(frozen=True)
class Row:
    """A record without its text."""

    time: int  # nanoseconds since 1970
    thread: int
    name: str
    values: dict[str, int]
    text: str  # for an event that ends in text


@dataclass
class Trace:
    """One dump. Records come in the order in which they were made."""

    path: Path
    process: str = "?"
    host: str = "?"
    pid: int = 0
    reason: str = "?"
    order: str = "little"
    events: dict[int, Event] = field(default_factory=dict)
    names: dict[tuple[str, int], str] = field(default_factory=dict)
    raw: memoryview = field(default_factory=lambda: memoryview(b""))

    @property
    def kept(self) -> int:
        return len(self.raw) // (8 * _WORDS)

    @property
    def lost(self) -> int:
        """Records that later ones have overwritten."""
        if not self.kept:
            return 0
        last: int = self._format().unpack_from(self.raw, (self.kept - 1) * 8 * _WORDS)[0]
        return last - self.kept

    def records(self) -> Iterator[Record]:
        for event, row in self._rows():
            text = " ".join(f"{k}={self._shown(event, k, v)}" for k, v in row.values.items())
            if event.fields[-1:] == ["text"]:
                text = f"{text} {row.text}".strip()
            yield Record(
                row.time, self.process, row.thread, event.subsystem, event.name, row.values, text
            )

    def rows(self) -> Iterator[Row]:
        return (row for _, row in self._rows())

    def _rows(self) -> Iterator[tuple[Event, Row]]:
        whole = self.raw[: self.kept * 8 * _WORDS]
        for at, (_, time, code, *values) in enumerate(self._format().iter_unpack(whole)):
            event = self.events.get(code & 0xFFFF)
            if event is None:
                event = Event("?", f"event-{code & 0xFFFF}", [f"f{i}" for i in range(5)])
            text = ""
            kept = len(event.fields)
            if event.fields[-1:] == ["text"]:
                kept -= 1
                end = (at + 1) * 8 * _WORDS
                begin = end - 8 * (6 - len(event.fields))
                text = bytes(whole[begin:end]).partition(b"\0")[0].decode(errors="replace")
            named = dict(zip(event.fields[:kept], values, strict=False))
            yield event, Row(time, code >> 32, event.name, named, text)

    @property
    def first(self) -> int | None:
        """The time of the earliest record."""
        whole = self.raw[: self.kept * 8 * _WORDS]
        return min((words[1] for words in self._format().iter_unpack(whole)), default=None)

    def name(self, field: str, value: int) -> str:
        """The meaning of a field's value; the number if the meaning is unknown."""
        return self.names.get((field, value), str(value))

    def _format(self) -> struct.Struct:
        return struct.Struct(("<" if self.order == "little" else ">") + "3Q5q")

    def _shown(self, event: Event, key: str, value: int) -> str:
        if name := self.names.get((key, value)):
            return name
        is_node = key in _NODES or (key == "source" and event.subsystem == "relay")
        if is_node and (rank := self.names.get(("node", value))):
            return rank
        if is_node and value >= _GATEWAY:
            return "nobody" if value == _NOBODY else f"gateway:{value - _GATEWAY}"
        if key == "context":  # its maker, and a number; collectives have odd ones
            return f"{value >> 32}.{value & 0xFFFFFFFF}"
        return "any" if value == -1 and key in ("source", "tag") else str(value)


def read(path: Path) -> Trace:
    """Its records stay in the file. UsageError if the file is not a trace."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = mmap(file.fileno(), 0, access=ACCESS_READ) if size else None
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    end = data.find(_RECORDS) if data else -1
    lines = data[:end].decode(errors="replace").split("\n") if data and end >= 0 else [""]
    if lines[0] != _MAGIC or data is None:
        raise UsageError(
            f"{path} is not a trace of this release",
            "Ranks and agents write traces where ISTHMUS_TRACE is set.",
        )
    trace = Trace(path, raw=memoryview(data)[end + len(_RECORDS) :])
    for line in lines[1:]:
        _take(trace, line)
    return trace


def _take(trace: Trace, line: str) -> None:
    key, _, rest = line.partition(" ")
    words = rest.split()
    match key:
        case "process" | "host" | "reason" | "order":
            setattr(trace, key, rest)
        case "pid":
            trace.pid = int(rest)
        case "event" if len(words) >= 3:
            trace.events[int(words[0])] = Event(words[1], words[2], words[3:])
        case "name" if len(words) >= 3:
            trace.names[words[0], int(words[1])] = " ".join(words[2:])
