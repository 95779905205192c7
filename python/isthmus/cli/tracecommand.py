"""`isthmus trace`."""

import heapq
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base.errors import UsageError
from isthmus.seeing import tracefile
from isthmus.seeing.tracefile import Record, Trace


def trace(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="A file that a process wrote.", show_default=False),
    ],
    rank: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Show only this world rank. May be repeated."),
    ] = None,
    subsystem: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Show only this subsystem. May be repeated."),
    ] = None,
) -> None:
    """Print the records of a run's processes under ISTHMUS_TRACE, merged by time.

    [bold]ISTHMUS_TRACE=net,match isthmus run -n 4 ./app[/bold]
      Each process keeps its last 65536 events, and writes them to a file at the end.

    [bold]isthmus trace isthmus-*.trace[/bold]
      One line for each event: time, process, thread, subsystem, event, and its numbers.

    Subsystems are net (frames and streams), match (sends, receives and how they matched), coll \
    (collectives and their algorithms), comm (communicators), relay (traffic that gateways pass \
    on), call (MPI calls across clusters), link (counters of links), all. Each host's times come \
    from its own clock: times of two hosts are only as comparable as their clocks. 'isthmus run \
    --trace' uses one clock."""
    traces = [tracefile.read(path) for path in files]
    share_ranks(traces)
    known = {event.subsystem for one in traces for event in one.events.values()}
    if wrong := set(subsystem or []) - known:
        raise UsageError(
            f"--subsystem {min(wrong)}: the traces have no such subsystem",
            f"They have {', '.join(sorted(known))}.",
        )
    if rank:
        wanted = {f"rank {number}" for number in rank}
        traces = [one for one in traces if one.process in wanted]
    for one in traces:
        print(_about(one))
    for record in merged(traces, subsystem or sorted(known)):
        sys.stdout.write(line(record) + "\n")


def share_ranks(traces: Sequence[Trace]) -> None:
    """Under a rank map each rank's trace names the ranks of all; agents do not know them."""
    ranks = {key: name for one in traces for key, name in one.names.items() if key[0] == "node"}
    for one in traces:
        one.names.update(ranks)


def merged(traces: Sequence[Trace], subsystems: Sequence[str]) -> Iterator[Record]:
    """All records, by time."""
    wanted = frozenset(subsystems) | {"?"}
    everything = heapq.merge(
        *(sorted(one.records(), key=lambda record: record.time) for one in traces),
        key=lambda record: record.time,
    )
    return (record for record in everything if record.subsystem in wanted)


def line(record: Record) -> str:
    seconds, rest = divmod(record.time, 1_000_000_000)
    clock = f"{datetime.fromtimestamp(seconds):%H:%M:%S}.{rest:09d}"[:-3]
    return (
        f"{clock} {record.process:<12} {record.thread:>7} {record.subsystem:<5} "
        f"{record.name:<18} {record.text}"
    )


def _about(one: Trace) -> str:
    lost = f", {one.lost} older records lost" if one.lost else ""
    return (
        f"# {one.path}: {one.process}, process {one.pid} on {one.host}: {one.kept} records{lost}; "
        f"written at: {one.reason}"
    )
