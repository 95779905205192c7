"""Intervals in a process, from the events of its trace."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from isthmus.seeing.tracefile import Row, Trace

# Bits of a context. One marks a window or file, whose messages are Isthmus's own records
# (core/engine/service.hpp); the other marks a file (mpi/process/traffic.hpp).
_SERVED, _OF_FILES = 1 << 60, 1 << 59


@dataclass
class Interval:
    """Nanoseconds, by the host's clock. It began on `thread`."""

    kind: str  # call, collective, phase, send, receive
    name: str
    thread: int
    start: int
    end: int
    args: dict[str, Any] = field(default_factory=dict)
    flow: tuple[int, ...] = ()  # of a message: equal at both of its ends


@dataclass(frozen=True)
class Moment:
    name: str
    thread: int
    time: int
    args: dict[str, Any]


@dataclass
class Story:
    """The story of one process."""

    intervals: list[Interval] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)
    first: int = 0
    last: int = 0


def read(trace: Trace, rank: int) -> Story:
    """Reads the story of a rank."""
    rows = sorted(trace.rows(), key=lambda row: row.time)
    if not rows:
        return Story()
    for row in rows:  # under a rank map, ranks differ from nodes
        if "peer" in row.values:
            row.values["peer"] = int(trace.name("node", row.values["peer"]))
    story = Story(first=rows[0].time, last=rows[-1].time)
    story.intervals += _calls(rows, story.last)
    story.intervals += _collectives(trace, rows, story.last)
    story.intervals += _together(_phases(rows, story.last))
    story.intervals += _messages(rows, rank, story.last)
    story.moments += _moments(rows)
    return story


def _calls(rows: Sequence[Row], last: int) -> Iterator[Interval]:
    """Calls whose beginning later events have overwritten are left out."""
    windows = _windows(rows)
    under_way: dict[int, list[Interval]] = defaultdict(list)
    for row in rows:
        stack = under_way[row.thread]
        if row.name == "call-begun":
            stack.append(Interval("call", row.text, row.thread, row.time, row.time))
        elif row.name == "call-ended" and stack:
            stack[-1].end = row.time
            yield stack.pop()
        elif (
            stack
            and row.name in ("send-begun", "receive-posted")
            and row.values["context"] not in windows
        ):
            _tell(stack[-1].args, row)
    for stack in under_way.values():
        yield from (_unfinished(call, last) for call in stack)


def _tell(args: dict[str, Any], row: Row) -> None:
    """Adds the first message of a call, mostly its only one. Records of windows and files are not
    data that the program gave to the call."""
    if args or row.values["context"] % 2 or row.values["context"] & _SERVED:
        return
    if row.name == "send-begun":
        args.update(to=row.values["peer"], tag=row.values["tag"], bytes=row.values["bytes"])
    else:
        args.update(source=row.values["source"], tag=row.values["tag"])


def _unfinished(one: Interval, last: int) -> Interval:
    one.end = max(one.start, last)
    one.args["unfinished"] = True
    return one


def _collectives(trace: Trace, rows: Iterable[Row], last: int) -> Iterator[Interval]:
    under_way: dict[int, Interval] = {}  # by context
    begun_by: dict[int, Interval] = {}  # by thread
    for row in rows:
        if row.name == "collective-begun":
            context = row.values["context"]
            args = {"context": _context(context), "ranks": row.values["size"]}
            one = Interval("collective", "collective", row.thread, row.time, row.time, args)
            under_way[context] = begun_by[row.thread] = one
        elif row.name == "algorithm-chosen" and row.thread in begun_by:
            one = begun_by[row.thread]
            what = trace.name("collective", row.values["collective"])
            how = trace.name("algorithm", row.values["algorithm"])
            if one.name == "collective":
                one.name = f"{what}: {how}"
                one.args["bytes"] = row.values["bytes"]
                if row.values["segment"]:
                    one.args["segment"] = row.values["segment"]
            else:
                one.args.setdefault("within", []).append(f"{what}: {how}")
        elif row.name == "collective-ended":
            ended = under_way.pop(row.values["context"], None)
            if ended:
                ended.end = row.time
                if row.values["error"]:
                    ended.args["error"] = row.values["error"]
                yield ended
    yield from (_unfinished(one, last) for one in under_way.values())


def _phases(rows: Iterable[Row], last: int) -> Iterator[Interval]:
    under_way: dict[int, Interval] = {}
    for row in rows:
        if row.name == "phase-begun":
            name = f"{row.text} in the cluster"
            one = Interval("phase", name, row.thread, row.time, row.time)
            under_way[row.values["number"]] = one
        elif row.name == "phase-ended" and (done := under_way.pop(row.values["number"], None)):
            done.end = row.time
            yield done
    yield from (_unfinished(one, last) for one in under_way.values())


def _together(phases: Iterable[Interval]) -> Iterator[Interval]:
    """Phases of one name that overlap, such as the pieces of a large message, become one."""
    last: dict[tuple[int, str], Interval] = {}
    for one in sorted(phases, key=lambda phase: phase.start):
        before = last.get((one.thread, one.name))
        if before and one.start < before.end:
            before.end = max(before.end, one.end)
            before.args["operations"] = before.args.get("operations", 1) + 1
            continue
        last[one.thread, one.name] = one
        if before:
            yield before
    yield from last.values()


def _messages(rows: Sequence[Row], rank: int, last: int) -> Iterator[Interval]:
    """Messages to and from other clusters, with a number among equal ones."""
    open_now: dict[tuple[Any, ...], deque[Interval]] = defaultdict(deque)
    windows = _windows(rows)
    # Two counts, as a process also sends to itself.
    sent: dict[tuple[int, ...], int] = defaultdict(int)
    received: dict[tuple[int, ...], int] = defaultdict(int)
    for row in rows:
        values = row.values
        if row.name == "send-begun":
            flow = _numbered(sent, (rank, values["peer"], values["context"], values["tag"]))
            key = ("send", values["peer"], values["context"], values["tag"])
            name = f"to rank {values['peer']}"
            args = _of_message(values, windows)
            open_now[key].append(Interval("send", name, row.thread, row.time, row.time, args, flow))
        elif row.name in ("message-matched", "unexpected-matched"):
            flow = _numbered(received, (values["peer"], rank, values["context"], values["tag"]))
            key = ("receive", values["peer"], values["context"], values["tag"])
            name = f"from rank {values['peer']}"
            args = _of_message(values, windows)
            args["early"] = row.name == "unexpected-matched"
            open_now[key].append(
                Interval("receive", name, row.thread, row.time, row.time, args, flow)
            )
        elif row.name in ("send-done", "receive-done"):
            kind = row.name.removesuffix("-done")
            waiting = open_now[kind, values["peer"], values["context"], values["tag"]]
            if waiting:
                waiting[0].end = row.time
                yield waiting.popleft()
    for left in open_now.values():
        yield from (_unfinished(one, last) for one in left)


def _numbered(count: dict[tuple[int, ...], int], key: tuple[int, ...]) -> tuple[int, ...]:
    count[key] += 1
    return *key, count[key]


def _windows(rows: Iterable[Row]) -> frozenset[int]:
    """The contexts of windows: their records carry them, with a mark."""
    contexts = {row.values["context"] for row in rows if "context" in row.values}
    return frozenset(c ^ _SERVED for c in contexts if c & _SERVED and not c & _OF_FILES)


def _of_message(values: dict[str, int], windows: frozenset[int]) -> dict[str, Any]:
    if values["context"] & _SERVED:
        of = "a file" if values["context"] & _OF_FILES else "a window"
    elif values["context"] in windows:  # bytes that travel apart from their records
        of = "a window"
    else:
        of = "a collective" if values["context"] % 2 else "the program"
    return {"tag": values["tag"], "bytes": values["bytes"], "of": of}


def _moments(rows: Iterable[Row]) -> Iterator[Moment]:
    for row in rows:
        if row.name in ("comm-made", "comm-freed"):
            what = "communicator made" if row.name == "comm-made" else "communicator freed"
            args = {"context": _context(row.values["context"]), "ranks": row.values["size"]}
            yield Moment(what, row.thread, row.time, args)


def _context(value: int) -> str:
    return f"{value >> 32}.{value & 0xFFFFFFFE}"


def in_lanes(intervals: Sequence[Interval]) -> Iterator[tuple[int, Interval]]:
    """Numbers lanes such that intervals in a lane are nested or apart."""
    lanes: list[list[int]] = []  # ends of those that are open
    for one in sorted(intervals, key=lambda i: (i.start, -i.end)):
        for stack in lanes:
            while stack and stack[-1] <= one.start:
                stack.pop()
        fits = (n for n, stack in enumerate(lanes) if not stack or stack[-1] >= one.end)
        lane = next(fits, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append(one.end)
        yield lane, one
