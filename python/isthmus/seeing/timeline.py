"""The file of `isthmus run --trace`: all clusters on one clock, and the sums of the traffic."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from isthmus.base.errors import RunError, UsageError
from isthmus.base.relay import Voice
from isthmus.place.plan import Plan
from isthmus.place.traceoptions import MOST_RECORDS, RECORD, TraceOptions
from isthmus.run.stats import Stats
from isthmus.seeing import gathering, intervals, tracefile
from isthmus.seeing.clocks import Clock
from isthmus.seeing.gathering import Gathered
from isthmus.seeing.handed import Handed
from isthmus.seeing.intervals import Interval, Story
from isthmus.seeing.perfetto import Writer, writing
from isthmus.seeing.tracefile import Trace

_LINKS = 1  # the process for traffic; gateways and ranks come after it
_FIRST_GATEWAY, _FIRST_RANK = 100, 1000
_OUTSTANDING, _MESSAGES = 10_000_000, 20_000_000  # rows; threads of the kernel come before them
_PERIOD = 100_000_000  # nanoseconds between two counts of a gateway


@dataclass
class _Process:
    trace: Trace
    clock: Clock
    cluster: str

    @property
    def rank(self) -> int | None:
        kind, _, number = self.trace.process.partition(" ")
        return int(number) if kind == "rank" and number.isdecimal() else None


def write(options: TraceOptions, plan: Plan, found: Gathered, stats: Stats, voice: Voice) -> None:
    """Writes the file, reports what it lacks, and removes the fetched traces. RunError if it cannot
    be written."""
    try:
        _write(options, plan, found, stats, voice)
    except OSError as error:
        raise RunError(f"--trace {options.file}: {error.strerror or error}") from None
    finally:
        gathering.remove(found)


def _write(options: TraceOptions, plan: Plan, found: Gathered, stats: Stats, voice: Voice) -> None:
    for trouble in found.trouble:
        voice.warn(trouble)
    processes = list(_processes(found, voice))
    ranked = sorted((p for p in processes if p.rank is not None), key=lambda p: p.rank or 0)
    gateways = [p for p in processes if p.rank is None]
    start = min((t for p in processes if (t := _beginning(p)) is not None), default=0)
    missing = _missing(plan, options, processes, voice)
    about = {
        "tool": "isthmus",
        "job": plan.job,
        "startTime": start,
        "sums": sums(plan, stats),
        "missing": missing,
        "clocksUnsureMicroseconds": max((c.unsure for c in found.clocks), default=0) / 1000,
    }
    whole = {p.rank for p in ranked if not p.trace.lost}
    end = start
    with writing(options.file, start, about) as out:
        out.process(_LINKS, "links")
        for number, process in enumerate(gateways):
            end = max(end, _gateway(out, _FIRST_GATEWAY + number, plan, process))
        handed = Handed({process.rank or 0: process.cluster for process in ranked})
        for process in ranked:
            end = max(end, _rank(out, process, whole, handed))
        for name, time, rate in handed.rates():
            out.counter(_LINKS, name, time, {"bytes/s": rate})
        _totals(out, plan, stats, end)
    voice.narrate(f"{options.file}: {len(ranked)} ranks; https://ui.perfetto.dev opens it")


def _processes(found: Gathered, voice: Voice) -> Iterator[_Process]:
    for agent, path in found.files:
        name = found.names[agent]
        try:
            yield _Process(tracefile.read(path), found.clocks[agent], name)
        except UsageError as error:
            voice.warn(f"the trace of a process of {name} is broken: {error.sentence}")


def _beginning(process: _Process) -> int | None:
    first = process.trace.first
    return None if first is None else process.clock.common(first)


def sums(plan: Plan, stats: Stats) -> list[dict[str, Any]]:
    """The traffic, as --stats has it."""

    def one(source: str, target: str, way: str, count: dict[str, float]) -> dict[str, Any]:
        counted = {key: int(count.get(key, 0)) for key in ("messages", "bytes", "wire_bytes")}
        return {"from": source, "to": target, "way": way, **counted}

    name = plan.cluster_name
    told = [
        one(plan.gateway_name(a), plan.gateway_name(b), "link", count)
        for (a, b), count in sorted(stats.links.items())
    ]
    told += [
        one(name(a), name(b), f"by {plan.gateway_name(node)}", count)
        for (node, a, b), count in sorted(stats.crossings.items())
    ]
    for (a, b), count in sorted(stats.direct.items()):
        way = "memory" if (min(a, b), max(a, b)) in plan.shared else "direct"
        told.append(one(name(a), name(b), way, count))
    return told


def _missing(
    plan: Plan, options: TraceOptions, processes: Sequence[_Process], voice: Voice
) -> list[dict[str, Any]]:
    """The parts that the file lacks; the user hears of it."""
    missing: list[dict[str, Any]] = []
    for process in processes:
        if lost := process.trace.lost:
            missing.append({"process": process.trace.process, "events": lost})
    if missing:
        worst = max(missing, key=lambda one: int(one["events"]))
        needed = worst["events"] + options.records
        remedy = ""
        if needed <= MOST_RECORDS:
            remedy = (
                f"\n  --trace-size {_size(RECORD << (needed - 1).bit_length())} would have kept all"
            )
        others = f", and of {len(missing) - 1} more processes" if len(missing) > 1 else ""
        voice.warn(
            f"the trace lacks the first {worst['events']} events of {worst['process']}{others}: "
            f"processes keep their last {options.records}{remedy}"
        )
    here = {process.rank for process in processes}
    # A native job has none of them, since Isthmus is not involved.
    absent = [] if plan.alone else [rank for rank in range(plan.size) if rank not in here]
    if absent:
        missing.append({"ranks": absent})
        voice.warn(
            f"the trace lacks {gathering.names_of(absent)}: such ranks did not end in good order, "
            "have not called MPI_Init, or do not see their cluster's working directory"
        )
    if plan.alone:
        voice.warn("the world is one cluster, a native job: the trace has nothing to show")
    return missing


def _size(count: int) -> str:
    return f"{count >> 20}MiB" if count >> 20 else f"{count >> 10}KiB"


# -- gateways --------------------------------------------------------------------------------


def _gateway(out: Writer, pid: int, plan: Plan, process: _Process) -> int:
    """Counters of the links on which the gateways of an agent send. Returns the last time."""
    if not process.trace.kept:
        return 0
    out.process(pid, f"gateways of {process.cluster} ({process.trace.host})")
    last: dict[tuple[int, int], tuple[int, int]] = {}
    end = 0
    for row in process.trace.rows():
        if row.name != "link-counted":
            continue
        ends = row.values["from"], row.values["peer"]
        name = f"{plan.gateway_name(ends[0])} -> {plan.gateway_name(ends[1])}"
        time, sent = row.time, row.values["bytes"]
        # Counts are recorded when they change: nothing has moved between two records.
        since, before = last.get(ends, (time - _PERIOD, 0))
        begin = max(since, time - _PERIOD)
        at = process.clock.common
        if begin > since:
            out.counter(pid, f"{name} rate", at(since), {"bytes/s": 0})
        rate = (sent - before) * 1e9 / max(time - begin, 1)
        out.counter(pid, f"{name} rate", at(begin), {"bytes/s": max(0, round(rate))})
        out.counter(pid, f"{name} backlog", at(time), {"bytes": row.values["waiting"]})
        sums_now = {"messages": row.values["messages"], "bytes": sent}
        out.counter(_LINKS, name, at(time), sums_now)
        last[ends] = time, sent
        end = max(end, at(time))
    for ends, (time, _) in last.items():
        name = f"{plan.gateway_name(ends[0])} -> {plan.gateway_name(ends[1])}"
        out.counter(pid, f"{name} rate", process.clock.common(time), {"bytes/s": 0})
    return end


def _totals(out: Writer, plan: Plan, stats: Stats, end: int) -> None:
    """The last counts of all links, which the agents took when the ranks had ended."""
    for one in sums(plan, stats):
        way = "" if one["way"] == "link" else f", {one['way']}"
        counts = {"messages": one["messages"], "bytes": one["bytes"]}
        out.counter(_LINKS, f"{one['from']} -> {one['to']}{way}", end, counts)


# -- ranks -----------------------------------------------------------------------------------


def _rank(out: Writer, process: _Process, whole: set[int | None], handed: Handed) -> int:
    """Returns the last time."""
    rank = process.rank or 0
    pid = _FIRST_RANK + rank
    story = intervals.read(process.trace, rank)
    out.process(pid, f"rank {rank} ({process.cluster}, {process.trace.host})")
    _threads(out, pid, story)
    if lost := process.trace.lost:
        args = {"events": lost, "remedy": "a larger --trace-size"}
        at = process.clock.common(story.first)
        out.moment(pid, 0, "earlier events are missing", at, args)
    rows = [*_rows(story)]
    for first, name in ((_OUTSTANDING, "under way"), (_MESSAGES, "messages")):
        for tid in sorted({tid for tid, _ in rows if first <= tid < first + _OUTSTANDING}):
            out.thread(pid, tid, f"{name} {tid - first + 1}" if tid > first else name)
    common = process.clock.common
    for tid, one in rows:
        start, end = common(one.start), common(one.end)
        out.slice(pid, tid, one.name, start, end, cat=one.kind, args=one.args)
        if one.kind == "send":
            handed.add(one, start)
        if one.flow and {one.flow[0], one.flow[1]} <= whole:
            _arrow(out, pid, tid, one, start)
    for moment in story.moments:
        out.moment(pid, moment.thread, moment.name, common(moment.time), moment.args)
    return common(story.last)


def _threads(out: Writer, pid: int, story: Story) -> None:
    calling = [i.thread for i in story.intervals if i.kind == "call"]
    names = dict.fromkeys(calling, "program")
    for moment in story.moments:
        names.setdefault(moment.thread, "isthmus")
    for thread, name in names.items():
        out.thread(pid, thread, name)


def _arrow(out: Writer, pid: int, tid: int, one: Interval, at: int) -> None:
    name = ".".join(map(str, one.flow))
    keys: dict[str, Any] = {"id": name, "name": "message", "cat": "message", "ts": out.time(at)}
    if one.kind == "send":
        out.event("s", pid, tid=tid, **keys)
    else:
        out.event("f", pid, tid=tid, bp="e", **keys)


def _rows(story: Story) -> Iterator[tuple[int, Interval]]:
    """The row of each interval: in a row, intervals are nested or apart."""
    by_thread: dict[int, list[Interval]] = {}
    for one in story.intervals:
        if one.kind == "call":
            by_thread.setdefault(one.thread, []).append(one)
    outstanding: list[Interval] = []
    inside: dict[int, list[Interval]] = {}
    for one in story.intervals:
        if one.kind in ("collective", "phase"):
            place = inside if one.thread in by_thread else None
            if place is None:
                outstanding.append(one)
            else:
                place.setdefault(one.thread, []).append(one)
    for thread, calls in by_thread.items():
        fitting, rest = _fitting(calls, inside.get(thread, []))
        outstanding += rest
        yield from ((thread, one) for one in sorted(calls + fitting, key=_by_start))
    for lane, one in intervals.in_lanes(outstanding):
        yield _OUTSTANDING + lane, one
    messages = [one for one in story.intervals if one.kind in ("send", "receive")]
    for lane, one in intervals.in_lanes(messages):
        yield _MESSAGES + lane, one


def _by_start(one: Interval) -> tuple[int, int]:
    return one.start, -one.end


def _fitting(
    calls: Sequence[Interval], others: Iterable[Interval]
) -> tuple[list[Interval], list[Interval]]:
    """The others that lie within a call, and are nested or apart; and the rest."""
    fitting: list[Interval] = []
    rest: list[Interval] = []
    marks = sorted(calls, key=_by_start)
    at = 0
    open_calls: list[Interval] = []
    open_others: list[Interval] = []
    for one in sorted(others, key=_by_start):
        while at < len(marks) and marks[at].start <= one.start:
            while open_calls and open_calls[-1].end <= marks[at].start:
                open_calls.pop()
            open_calls.append(marks[at])
            at += 1
        while open_calls and open_calls[-1].end <= one.start:
            open_calls.pop()
        while open_others and open_others[-1].end <= one.start:
            open_others.pop()
        good = bool(open_calls) and open_calls[-1].end >= one.end
        good = good and (not open_others or open_others[-1].end >= one.end)
        # A call that begins within it must end within it.
        later = at
        while good and later < len(marks) and marks[later].start < one.end:
            good = marks[later].end <= one.end
            later += 1
        (fitting if good else rest).append(one)
        if good:
            open_others.append(one)
    return fitting, rest
