"""Rules for files of the trace-event format, and readers of them for tests."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

KEYS = {
    "X": {"name", "ts", "dur", "tid", "cat", "args"},
    "i": {"name", "ts", "tid", "s", "args"},
    "C": {"name", "ts", "tid", "args"},
    "M": {"name", "args"},
    "s": {"name", "ts", "tid", "id", "cat"},
    "f": {"name", "ts", "tid", "id", "cat", "bp"},
}
TIMES = ("ts", "dur")


class Timeline:
    """A file that has been checked."""

    def __init__(self, path: Path) -> None:
        packed = path.suffix == ".gz"
        whole = json.loads(gzip.decompress(path.read_bytes()) if packed else path.read_text())
        self.about: Mapping[str, Any] = whole["otherData"]
        self.events: list[dict[str, Any]] = whole["traceEvents"]
        for event in self.events:
            check_event(event)
        self.check_nesting()
        self.check_arrows()

    def slices(self, process: str = "", kind: str = "") -> list[dict[str, Any]]:
        names = self.processes()
        return [
            e
            for e in self.events
            if e["ph"] == "X" and names[e["pid"]].startswith(process) and kind in ("", e["cat"])
        ]

    def processes(self) -> dict[int, str]:
        named = (e for e in self.events if e["ph"] == "M" and e["name"] == "process_name")
        return {e["pid"]: e["args"]["name"] for e in named}

    def counted(self) -> dict[str, tuple[int, int]]:
        """Messages and bytes by link, as the last counters have them."""
        last: dict[str, tuple[int, int]] = {}
        for e in self.events:
            if e["ph"] == "C" and "messages" in e["args"]:
                now = e["args"]["messages"], e["args"]["bytes"]
                assert now >= last.get(e["name"], (0, 0)), e
                last[e["name"]] = now
        return last

    def check_nesting(self) -> None:
        """Slices of a row lie within each other or apart; times are of whole nanoseconds."""
        rows = defaultdict(list)
        for e in self.slices():
            start = round(1000 * e["ts"])
            rows[e["pid"], e["tid"]].append((start, -round(1000 * e["dur"]), e))
        for row in rows.values():
            open_now: list[int] = []
            for start, length, e in sorted(row, key=lambda item: item[:2]):
                while open_now and open_now[-1] <= start:
                    open_now.pop()
                assert not open_now or start - length <= open_now[-1], e
                open_now.append(start - length)

    def check_arrows(self) -> None:
        """Each begins once and ends at most once, in slices."""
        ends = {phase: [e for e in self.events if e["ph"] == phase] for phase in "sf"}
        ids = {phase: [e["id"] for e in found] for phase, found in ends.items()}
        assert all(len(set(found)) == len(found) for found in ids.values())
        assert set(ids["f"]) <= set(ids["s"])
        starts = {(e["pid"], e["tid"], e["ts"]) for e in self.slices()}
        assert all(
            (e["pid"], e["tid"], e["ts"]) in starts for found in ends.values() for e in found
        )

    def arrows(self) -> Iterator[tuple[float, float]]:
        begun = {e["id"]: e["ts"] for e in self.events if e["ph"] == "s"}
        for e in self.events:
            if e["ph"] == "f":
                yield begun[e["id"]], e["ts"]


def check_event(event: Mapping[str, Any]) -> None:
    phase = event["ph"]
    assert phase in KEYS, event
    assert set(event) >= KEYS[phase], event
    assert set(event) - KEYS[phase] <= {"ph", "pid", "tid"}, event
    assert isinstance(event["pid"], int), event
    assert isinstance(event.get("tid", 0), int), event
    for key in TIMES:
        assert 0 <= event.get(key, 0) < 3600e6, event  # microseconds: no test takes an hour
    if phase == "C":
        assert all(value >= 0 for value in event["args"].values()), event
