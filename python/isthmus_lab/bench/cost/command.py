"""The command `isthmus bench cost`."""

import contextlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from isthmus.base.errors import UsageError
from isthmus.measuring.runs import Run
from isthmus.measuring.tasks import GIGABYTE, Task
from isthmus_lab.bench import common, labs, p2p, report, session
from isthmus_lab.bench.contestants import Contestant
from isthmus_lab.bench.cost.group import Group
from isthmus_lab.bench.cost.parts import Sorter
from isthmus_lab.bench.cost.results import CostResults, CostRun, Work, cost_of, works
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.session import Entry
from isthmus_lab.measuring.place import Place

_DEFAULT = ("tcp", "native-*-default", "isthmus", "isthmus-direct*")
_DEFAULT_BESIDE_PROXIES = ("tls", "haproxy", "isthmus-plain-legs")
_LOOP = "while True: pass"


@dataclass(frozen=True)
class Counted:
    """A contestant whose processor time is counted."""

    contestant: Contestant
    group: Group
    nodes: Mapping[int, str]
    ceiling: int | None = None

    @property
    def key(self) -> str:
        return self.contestant.key

    @property
    def label(self) -> str:
        return self.contestant.label

    def measure(self, tasks: Sequence[Task], number: int) -> list[CostRun]:
        """Runs each task in a job of its own."""
        return [self._one(task, number) for task in tasks]

    def _one(self, task: Task, number: int) -> CostRun:
        before, parts_before = self.group.seconds(), self.group.parts()
        sorter = Sorter(self.group, self.nodes)
        try:
            with self.group.entered():
                runs: Sequence[Run] = self.contestant.measure([task], number)
        finally:
            sorter.close()
        parts = {
            name: used - parts_before.get(name, 0.0) for name, used in self.group.parts().items()
        }
        return cost_of(runs, self.group.seconds() - before - sorter.used, parts)


def cost(
    context: typer.Context,
    testbed: common.TestbedOption = None,
    passes: common.PassesOption = 3,
    scale: Annotated[
        float,
        typer.Option(min=0.001, metavar="X", help="X times the default number of messages."),
    ] = 1.0,
    loops: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="N endless loops compute on the same cores."),
    ] = 0,
    native: common.NativeOption = None,
    only: common.OnlyOption = None,
    json_file: common.JsonOption = None,
    html_file: common.HtmlOption = None,
    inside: common.InsideOption = None,
) -> None:
    """Measure the processor time of messages: user and system time of all processes of the job,
    without its start and end.

    [bold]isthmus bench cost --testbed room[/bold]
      Between two hosts of one room, compared with plain TCP and native MPIs.

    [bold]isthmus bench cost --testbed room --loops 4 --scale 0.2[/bold]
      The same on a busy machine, where the time on the clock matters.

    Without --testbed, it measures between the two sites of the lab around it. The user must be
    allowed to make control groups."""
    signal.signal(signal.SIGTERM, common.leave)
    out = Output(json_file, html_file)
    name, results = labs.measure(
        testbed,
        None,
        inside,
        lambda place: _measure(place, passes, scale, loops, native or (), only or ()),
        lambda lab: labs.in_one_lab(lab, context, CostResults()),
    )
    _table(results, scale, loops, name, out.sheet)
    raise typer.Exit(out.finish(name, results))


def _measure(
    place: Place,
    passes: int,
    scale: float,
    loops: int,
    mpis: Sequence[str],
    only: Sequence[str],
) -> CostResults:
    results = CostResults()
    tasks = [task for work in works(scale) for task in (work.short, work.task)]
    only = only or _DEFAULT + (_DEFAULT_BESIDE_PROXIES if place.name in ("fatpipe", "room") else ())
    plan = p2p.Options(mpis=tuple(mpis), only=tuple(only))
    nodes = _nodes(place)
    group = Group()
    try:
        with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
            found = p2p.contestants(place, plan, Path(folder), common.say)
            if not found:
                raise UsageError(f"--only {' '.join(only)}: none of these can run here")
            entries: list[Entry[Task, CostRun]] = []
            for one in found:
                suits = [task for task in tasks if task.figure in one.figures]
                entries.append(Entry(Counted(one, group, nodes, one.ceiling), [suits] * passes))
            with _computing(loops):
                session.measure(place, entries, results, common.say)
    finally:
        group.close()
    return results


def _nodes(place: Place) -> dict[int, str]:
    """The lab's nodes, by the inodes of their network namespaces."""
    if place.lab is None or place.network is None:
        return {}
    return {place.lab.namespace(one).stat().st_ino: one for one in place.network.nodes}


@contextlib.contextmanager
def _computing(loops: int) -> Iterator[None]:
    """Runs processes that never sleep. Each has a session of its own, as those of other users."""
    started = [
        subprocess.Popen([sys.executable, "-c", _LOOP], start_new_session=True)
        for _ in range(loops)
    ]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def _table(results: CostResults, scale: float, loops: int, name: str, out: Console) -> None:
    beside = f" beside {loops} endless loops" if loops else ""
    table = Table(title=f"Processor time of messages on {name}{beside}", title_justify="left")
    table.add_column("")
    shown = works(scale)
    for work in shown:
        unit = "s/GB" if work.per_byte else "us a message"
        table.add_column(f"{work.label}, {unit}", justify="right")
    for key in results.measured():
        table.add_row(results.labels[key], *(_cell(results, key, work) for work in shown))
        for part in results.parts(key):
            table.add_row(f"  {part}", *(_cell(results, key, work, part) for work in shown))
    out.print(table)
    out.print("Medians over the passes. Brackets hold the time on the clock.")
    out.print("Below each contestant are its parts: the programs on each node that carry messages.")


def _cell(results: CostResults, key: str, work: Work, part: str | None = None) -> str:
    scale = GIGABYTE / work.task.bytes if work.per_byte else 1e6

    def figure() -> str:
        processor = f"{scale * results.processor(key, work, part):.2f}"
        clock = f" ({scale * results.clock(key, work):.2f})"
        return processor if part else processor + clock

    return report.or_dash(figure)
