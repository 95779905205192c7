"""`isthmus ps` and `isthmus top`."""

import json
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live

from isthmus.base import completing
from isthmus.base.errors import RunError, UsageError
from isthmus.base.options import AsJson
from isthmus.base.tables import console
from isthmus.base.units import parse_time
from isthmus.seeing import runs, screen, sight
from isthmus.seeing.runs import GoneError, Line, Run
from isthmus.seeing.sight import Sight

JobName = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN",
        help="The run's name, its first or last letters, or the process id of its `isthmus run`.",
        autocompletion=completing.runs,
        show_default=False,
    ),
]


def ps(run: JobName = None, as_json: AsJson = False) -> None:
    """List your runs on this host, or the ranks of one: cluster, host, process, program.

    [bold]isthmus ps[/bold]
      Running jobs: of `isthmus run`, and of `isthmus submit` once all clusters are there.

    [bold]isthmus ps 5a42e7d1[/bold]
      Its ranks, as a debugger needs them: `ssh HOST gdb -p PROCESS`.

    A rank that has not called MPI_Init is shown only if its cluster runs beside its agent. A \
    stopped rank is shown in its last known state. States are those of `isthmus top`."""
    if run is None:
        found = runs.every()
        if as_json:
            print(json.dumps([{"job": one.job, **one.about} for one in found]))
        elif found:
            _show(screen.runs_table(found))
        else:
            print(runs.none())
        return
    named = runs.find(run)
    with runs.connect(named) as line:
        seen = _asked(named, line, "ranks")
    if as_json:
        print(json.dumps([asdict(rank) for rank in seen.ranks]))
    else:
        _show(screen.ranks_table(seen.ranks))


def top(
    run: JobName = None,
    where: Annotated[
        bool,
        typer.Option(
            "--where",
            help="Show once in which MPI call each rank waits, and for which ranks; then end.",
        ),
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Print one view, over one interval, then end.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each interval.")
    ] = False,
    interval: Annotated[
        str, typer.Option(metavar="TIME", help="Time between two views: '2s', '500ms'.")
    ] = "2s",
) -> None:
    """Watch a run: its links, its clusters, and what its ranks wait for.

    [bold]isthmus top[/bold]
      Your only run on this host, until q or Ctrl-C, or until it ends.

    [bold]isthmus top 5a42e7d1 --where[/bold]
      Where a run hangs, as Ctrl-\\ would show in its terminal.

    For each direction of a link it shows: bytes a second on the wire, the round trip, the backlog \
    (data that has not been passed on yet), data that TCP has sent again, and messages and bytes \
    of the program. Ranks are 'waiting' in an MPI call for another cluster, or 'computing' (or in \
    a call within their cluster). Ranks that do not answer are 'silent': they are stopped, have \
    not called MPI_Init, or have left. If standard output is not a terminal, views follow each \
    other as text."""
    seconds = _interval(interval)
    named = runs.find(run)
    with runs.connect(named) as line:
        if where:
            _tell_where(named, line)
        elif as_json:
            for seen in _looks(named, line, seconds, once=once):
                print(json.dumps(asdict(seen)), flush=True)
        elif once or not sys.stdout.isatty():
            for seen in _looks(named, line, seconds, once=once):
                _show(Group(screen.live(seen), *([] if once else [""])))
        else:
            _watch(named, line, seconds)


def _interval(text: str) -> float:
    try:
        seconds = float(text) if text.replace(".", "", 1).isdecimal() else parse_time(text)
    except ValueError as error:
        raise UsageError(f"--interval {error}") from None
    if not 0.1 <= seconds <= 3600:
        raise UsageError(f"--interval {text}: it must be from 100 ms to one hour")
    return seconds


def _asked(run: Run, line: Line, what: str, before: Sight | None = None) -> Sight:
    """RunError if the run has ended, or has another release of Isthmus."""
    try:
        return sight.read(line.ask(what), before)
    except GoneError:
        raise runs.ended(run) from None
    except (KeyError, TypeError, ValueError):
        raise RunError(
            f"{run.job} gives an answer that cannot be read",
            "It runs under another release of Isthmus.",
        ) from None


def _tell_where(run: Run, line: Line) -> None:
    try:
        lines = line.ask("where").get("lines")
    except GoneError:
        raise runs.ended(run) from None
    if not isinstance(lines, list) or not lines:
        raise RunError(
            f"no rank of {run.job} can report where it is",
            "They have not called MPI_Init, or the run uses one cluster, where Isthmus is not "
            "involved.",
        )
    for text in lines:
        print(text)


def _looks(run: Run, line: Line, seconds: float, *, once: bool) -> Iterator[Sight]:
    """Repeats until the run ends, which is reported, or the user stops. The first has no rates."""
    seen = _asked(run, line, "look")
    if not once:
        yield seen
    while True:
        time.sleep(seconds)
        try:
            seen = _asked(run, line, "look", seen)
        except RunError as error:
            if once or run.path.exists():
                raise
            print(f"isthmus: {error.sentence}", file=sys.stderr)
            return
        yield seen
        if once:
            return


def _watch(run: Run, line: Line, seconds: float) -> None:
    """Uses the whole terminal."""
    console = Console()
    end = ""
    with _keys() as pressed, Live(console=console, screen=True, auto_refresh=False) as display:
        before: Sight | None = None
        while True:
            try:
                before = _asked(run, line, "look", before)
            except RunError as error:
                end = str(error)
                break
            display.update(screen.live(before, room=console.height), refresh=True)
            if pressed(seconds):
                break
    if end:
        print(f"isthmus: {end}", file=sys.stderr)


@contextmanager
def _keys() -> Iterator[Callable[[float], bool]]:
    """A function that waits for some seconds, and returns whether q was pressed meanwhile."""

    def only_waits(seconds: float) -> bool:
        time.sleep(seconds)
        return False

    if not sys.stdin.isatty():
        with suppress(KeyboardInterrupt):
            yield only_waits
        return
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)

    def pressed(seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if select.select([fd], [], [], left)[0] and sys.stdin.read(1) in ("q", "Q", ""):
                return True
        return False

    try:
        tty.setcbreak(fd)
        with suppress(KeyboardInterrupt):
            yield pressed
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _show(what: RenderableType) -> None:
    out = console()
    if out.is_terminal:
        out.print(what)
        return
    with out.capture() as text:
        out.print(what)
    print("\n".join(line.rstrip() for line in text.get().splitlines()), flush=True)
