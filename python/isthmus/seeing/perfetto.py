"""Traces as trace-event JSON, for Perfetto (ui.perfetto.dev) and chrome://tracing."""

import gzip
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class Writer:
    """Times are nanoseconds since `start`; a process and its threads are numbers."""

    def __init__(self, out: io.TextIOBase, start: int) -> None:
        self._out = out
        self._start = start
        self._begun = False

    def event(self, phase: str, pid: int, **keys: Any) -> None:
        self._out.write(",\n" if self._begun else "")
        self._begun = True
        self._out.write(json.dumps({"ph": phase, "pid": pid, **keys}, separators=(",", ":")))

    def time(self, common: int) -> float:
        """Microseconds, as the format demands."""
        return max(0, common - self._start) / 1000

    def process(self, pid: int, name: str) -> None:
        self.event("M", pid, name="process_name", args={"name": name})
        self.event("M", pid, name="process_sort_index", args={"sort_index": pid})

    def thread(self, pid: int, tid: int, name: str) -> None:
        self.event("M", pid, tid=tid, name="thread_name", args={"name": name})
        self.event("M", pid, tid=tid, name="thread_sort_index", args={"sort_index": tid})

    def slice(self, pid: int, tid: int, name: str, start: int, end: int, **keys: Any) -> None:
        begin = self.time(start)
        length = max(0.0, round(self.time(end) - begin, 3))
        self.event("X", pid, tid=tid, name=name, ts=begin, dur=length, **keys)

    def moment(self, pid: int, tid: int, name: str, at: int, args: Event) -> None:
        self.event("i", pid, tid=tid, name=name, ts=self.time(at), s="t", args=args)

    def counter(self, pid: int, name: str, at: int, values: Mapping[str, float]) -> None:
        self.event("C", pid, tid=0, name=name, ts=self.time(at), args=values)


@contextmanager
def writing(path: Path, start: int, about: Event) -> Iterator[Writer]:
    """Writes to a file, which is compressed if its name ends in .gz."""
    with opened(path) as out:
        out.write('{"displayTimeUnit":"ns","otherData":')
        out.write(json.dumps(about, separators=(",", ":")))
        out.write(',"traceEvents":[\n')
        yield Writer(out, start)
        out.write("\n]}\n")


@contextmanager
def opened(path: Path) -> Iterator[io.TextIOBase]:
    if path.suffix == ".gz":
        with gzip.open(path, "wt", compresslevel=5, encoding="utf-8") as packed:
            yield packed
    else:
        with path.open("w", encoding="utf-8") as plain:
            yield plain
