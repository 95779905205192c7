"""One cell of the table: a door, and a kind of strangers before it."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from doors.door import Door, KeptOutError
from doors.strangers import Kind, Strangers

LATER, GROWN, LOGGED = 2.0, 80.0, 10.0  # seconds, MB, KB a minute: the bounds


@dataclass(frozen=True)
class Cell:
    """`why`: the user was kept out. `logged` is in KB a minute."""

    seconds: float = 0.0
    memory: float = 0.0
    logged: float = 0.0
    strangers: int = 0
    why: str = ""


@contextlib.contextmanager
def _highest(measure: Callable[[], float]) -> Iterator[list[float]]:
    over = threading.Event()
    most = [0.0]

    def look() -> None:
        while not over.wait(0.2):
            most[0] = max(most[0], measure())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def measured(at: type[Door], kind: Kind | None, folder: Path, host: str, hold: float) -> Cell:
    """`hold`: seconds with strangers once the user is in; their first minute is the loudest."""
    folder.mkdir()
    door = at(folder, host)
    made = 0
    strangers: Strangers | None = None
    try:
        door.open()
        before, begin = door.logged(), time.monotonic()
        with _highest(door.memory) as most, contextlib.ExitStack() as stack:
            if kind:
                strangers = stack.enter_context(Strangers(host, door.ports, kind, door.opening))
                # If nothing listens yet, they come as soon as something does.
                limit = time.monotonic() + 5
                while not strangers.full and strangers.made + 1 >= strangers.tries / 2:
                    if time.monotonic() > limit:
                        break
                    time.sleep(0.05)
            start = time.monotonic()
            door.come()
            seconds = time.monotonic() - start
            if kind:
                limit = time.monotonic() + 10
                while not strangers.full and time.monotonic() < limit:
                    time.sleep(0.05)
                made = strangers.made
            time.sleep(hold)
            minutes = max(1.0, (time.monotonic() - begin) / 60)
            logged = (door.logged() - before) / 1024 / minutes
        return Cell(seconds, most[0], logged, made)
    except KeptOutError as error:
        return Cell(why=str(error) or "kept out", strangers=strangers.made if strangers else 0)
    finally:
        door.close()
        shutil.rmtree(folder, ignore_errors=True)


def verdict(cell: Cell, quiet: Cell, *, timed: bool) -> tuple[str, bool]:
    if cell.why:
        return f"KEPT OUT after {cell.strangers} strangers", False
    if not cell.strangers:
        return "no strangers came", False
    later, grown = cell.seconds - quiet.seconds, cell.memory - quiet.memory
    logged = cell.logged - quiet.logged
    good = (later <= LATER or not timed) and grown <= GROWN and logged <= LOGGED
    text = f"{later:+6.2f} s {grown:+7.1f} MB {logged:6.1f} KB/min  {cell.strangers:6d} came"
    return text + ("" if good else "  TOO MUCH"), good
