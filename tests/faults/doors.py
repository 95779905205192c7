"""`make doors`: every door of Isthmus with every kind of stranger before it. For each pair it
measures how much later users come in, how much memory grows, and how much is logged a minute."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS), str(TESTS.parent / "python")]

from faulty import AS_ROOT, COMPILERS, MARK, processes  # noqa: E402
from ports import free_port  # noqa: E402
from services import Service, found_isthmusd  # noqa: E402
from strangers import KINDS, SITE, Kind, Opening, Strangers, by_challenge, by_tls  # noqa: E402
from waiting import eventually  # noqa: E402

LATER, GROWN, LOGGED = 2.0, 80.0, 10.0  # seconds, MB, KB a minute: the bounds
TWO = "[cluster.east]\n[cluster.west]\n"
PATIENCE = 90  # seconds until a user is taken for kept out
# In the place of Slurm's, for one host.
_QUEUE = {
    "sbatch": 'for script; do :; done; setsid sh "$script" >/dev/null 2>&1 & echo 1',
    "squeue": "echo RUNNING None",
    "scancel": "exit 0",
}


class KeptOutError(Exception):
    """A user did not come in."""


class Door:
    """One cell of the table. `come` is one user, and returns once it is in. Processes that listen
    have a word of `held` in their command line."""

    held: tuple[str, ...] = ("isthmusd",)
    opening: Opening = by_challenge("isthmus-1")

    def __init__(self, folder: Path, host: str) -> None:
        self.folder = folder
        self.host = host
        self.shown = f"[{host}]" if ":" in host else host
        self.mark = uuid.uuid4().hex
        python = str(TESTS.parent / "python")
        self.environment = {
            **os.environ, **AS_ROOT, MARK: self.mark, "PYTHONPATH": python,
            "ISTHMUS_REACH": "gateway", "ISTHMUS_LEG": "socket",
            "ISTHMUS_RUNS": str(folder / "runs"), "ISTHMUS_JOBS": str(folder / "jobs"),
        }  # fmt: skip
        self.port = free_port(4)
        self.ports = [self.port]
        self.bell = folder / "bell"
        self.started: list[subprocess.Popen[str]] = []

    def open(self) -> None:
        """Starts the part that is there before strangers come."""

    def come(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.bell.touch()
        for process in self.started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            if process.poll() is None:
                process.kill()
                process.wait()
        with contextlib.suppress(BaseException):
            eventually(lambda: not processes(self.mark), "the end", 20)
        for pid in processes(self.mark):
            subprocess.run(["kill", "-9", str(pid)], check=False, stderr=subprocess.DEVNULL)

    # -- for those below -----------------------------------------------------------------------

    def isthmus(self, *words: object, **more: str) -> subprocess.Popen[str]:
        number = len(self.started)
        files = [(self.folder / f"{number}.{name}").open("w") for name in ("out", "err")]
        process = subprocess.Popen(
            [sys.executable, "-m", "isthmus", *map(str, words)],
            env={**self.environment, **more}, stdin=subprocess.DEVNULL,
            stdout=files[0], stderr=files[1], text=True, cwd=self.folder,
        )  # fmt: skip
        for file in files:
            file.close()
        self.started.append(process)
        return process

    def said(self, number: int) -> str:
        return "".join((self.folder / f"{number}.{name}").read_text() for name in ("out", "err"))

    def start(self, grid: str, *words: object, **more: str) -> None:
        """A run whose program waits for the bell, until it is up."""
        (self.folder / "grid.toml").write_text(grid)
        program = compiled(self.folder.parent, TESTS / "faults/faults.c")
        number = len(self.started)
        run = self.isthmus(
            "run", "-g", "grid.toml", "-n", 4, *words, program, "fine", 0, self.bell, **more
        )
        self.wait(lambda: "up 4" in self.said(number), run, number)

    def wait(self, so: Callable[[], object], run: subprocess.Popen[str], number: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while not so():
            if run.poll() not in (None, 0) or time.monotonic() > deadline:
                raise KeptOutError(self.said(number) + self.of_jobs())
            time.sleep(0.01)

    def of_jobs(self) -> str:
        return "".join(file.read_text() for file in self.folder.glob("jobs/*/err"))

    def memory(self) -> float:
        """MB, of all who hold the door."""
        return sum(_resident(pid) for pid, line in processes(self.mark).items() if self.is_of(line))

    def is_of(self, line: str) -> bool:
        return any(word in line for word in self.held)

    def logged(self) -> int:
        """Bytes, in all files that Isthmus has written."""
        ends = (".err", ".log", "err")
        return sum(f.stat().st_size for f in self.folder.rglob("*") if f.name.endswith(ends))


class Gateway(Door):
    """A start whose gateways are dialled."""

    def __init__(self, folder: Path, host: str) -> None:
        super().__init__(folder, host)
        self.ports = [self.port, self.port + 1]

    def come(self) -> None:
        link = "[[link]]\nbetween = ['east', 'west']\n"
        for cluster, port in (("east", self.port), ("west", self.port + 1)):
            link += f"[[gateway]]\ncluster = '{cluster}'\naddress = '{self.shown}:{port}'\n"
        self.start(TWO + link)


class Direct(Door):
    """A start whose ranks dial each other."""

    held = ("faults.ompi",)

    def __init__(self, folder: Path, host: str) -> None:
        super().__init__(folder, host)
        self.ports = list(range(self.port, self.port + 4))

    def come(self) -> None:
        clusters = "".join(
            f"[cluster.{name}]\nports = '{first}-{first + 1}'\n"
            for name, first in (("east", self.port), ("west", self.port + 2))
        )
        link = "[[link]]\nbetween = ['east', 'west']\nreach = 'direct'\n"
        gateways = "".join(
            f"[[gateway]]\ncluster = '{name}'\naddress = '{self.shown}'\n"
            for name in ("east", "west")
        )
        self.start(clusters + link + gateways, ISTHMUS_REACH="")


class Relay(Door):
    """A start whose clusters meet at a relay."""

    def come(self) -> None:
        self.start(TWO + f"[[relay]]\naddress = '{self.shown}:{self.port}'\n")


class AService(Door):
    """A start whose clusters meet at a service."""

    held = ("isthmusd serve",)

    def open(self) -> None:
        place = self.folder / "service"
        place.mkdir()
        self.service = Service(found_isthmusd(), place, self.environment, host=self.shown)
        self.ports = [self.service.port]
        self.key = self.service.user("alice")
        name = re.search(r'id = "(\S+)"', self.key.read_text())
        assert name
        self.opening = by_challenge(f"{name[1]}/isthmus-1")

    def come(self) -> None:
        self.start(self.service.grid(self.key))

    def close(self) -> None:
        super().close()
        self.service.close()


class Queue(Door):
    """A submitted job whose parts dial in."""

    held = ("isthmus submit",)
    opening = by_tls()

    def open(self) -> None:
        tools = self.folder / "tools"
        tools.mkdir()
        for name, script in _QUEUE.items():
            (tools / name).write_text(f"#!/bin/sh\n{script}\n")
            (tools / name).chmod(0o755)
        path = f"{tools}:{Path(found_isthmusd()).parent}:{self.environment['PATH']}"
        self.environment["PATH"] = path
        self.environment["HOME"] = str(self.folder)

    def come(self) -> None:
        grid = "".join(f"[cluster.{name}]\nscheduler = 'slurm'\n" for name in ("east", "west"))
        (self.folder / "grid.toml").write_text(grid)
        program = compiled(self.folder.parent, TESTS / "faults/faults.c")
        number = len(self.started)
        run = self.isthmus(
            "submit", "-g", "grid.toml", "--meet", f"{self.shown}:{self.port}", "-n", 4,
            program, "fine", 0, self.bell,
        )  # fmt: skip

        def up() -> bool:
            return any("up 4" in file.read_text() for file in self.folder.glob("jobs/*/out"))

        self.wait(up, run, number)

    def memory(self) -> float:
        """The one that stays: at first the command is there, too."""
        here = [_resident(pid) for pid, line in processes(self.mark).items() if self.is_of(line)]
        return max(here, default=0.0)


class Guests(Door):
    """A run that comes to the port of another."""

    held = ("--guests-at",)
    opening = by_tls()

    def open(self) -> None:
        self.program = compiled(self.folder.parent, TESTS / "grid/meeting/runs.c")
        (self.folder / "grid.toml").write_text("[cluster.east]\n")
        self.number = len(self.started)
        self.serving = self.isthmus(
            "run", "-g", "grid.toml", "--guests-at", f"{self.shown}:{self.port}", "-n", 2,
            self.program, "accept", self.folder / "port", 1,
        )  # fmt: skip
        self.wait((self.folder / "port").exists, self.serving, self.number)

    def come(self) -> None:
        number = len(self.started)
        runs = str(self.folder / "other")  # so that it does not find the other on this host
        come = self.isthmus(
            "run", "-g", "grid.toml", "--guests", "-n", 2,
            self.program, "connect", self.folder / "port", 1,
            ISTHMUS_RUNS=runs,
        )  # fmt: skip
        self.wait(lambda: "connect: passed" in self.said(number), come, number)


class Metrics(Door):
    """A scrape."""

    opening = Opening(b"GET /metrics HTTP/1.1\r\nHost: ", b"GET /metrics HTTP/1.1\r\nHost: ")

    def open(self) -> None:
        self.start(TWO, "--metrics", f"{self.shown}:{self.port}")

    def come(self) -> None:
        url = f"http://{self.shown}:{self.port}/metrics"
        deadline = time.monotonic() + 20
        while True:
            try:
                with urllib.request.urlopen(url, timeout=20) as answer:
                    assert b"isthmus_ranks" in answer.read()
                    return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise KeptOutError(str(error)) from None
                time.sleep(0.1)


DOORS: dict[str, type[Door]] = {
    "gateway": Gateway, "direct": Direct, "relay": Relay, "service": AService,
    "queue": Queue, "guests": Guests, "metrics": Metrics,
}  # fmt: skip
# Each kind once, and each door but that of metrics.
SHORT = [
    ("gateway", "one"), ("gateway", "ipv6"), ("direct", "many"), ("relay", "flood"),
    ("service", "slow"), ("service", "names"), ("queue", "garbage"), ("guests", "half"),
]  # fmt: skip


def compiled(folder: Path, source: Path) -> Path:
    program = folder / f"{source.stem}.ompi"
    if not program.exists():
        command = [COMPILERS["ompi"], "-O1", str(source), "-o", str(program)]
        subprocess.run(command, check=True, capture_output=True)
    return program


def _resident(pid: int) -> float:
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
    return 0.0


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


def measured(name: str, kind: Kind | None, folder: Path, host: str, hold: float) -> Cell:
    """`hold`: seconds with strangers once the user is in; their first minute is the loudest."""
    door = DOORS[name](folder, host)
    made = 0
    strangers: Strangers | None = None
    try:
        door.open()
        before, begin = door.logged(), time.monotonic()
        with _highest(door.memory) as most, contextlib.ExitStack() as stack:
            if kind:
                strangers = stack.enter_context(Strangers(host, door.ports, kind, door.opening))
                # Where nothing listens yet they come as soon as it does.
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


def table(cells: list[tuple[str, str]], hold: float, share: float, *, timed: bool) -> bool:
    """Prints a line for each. `share` of the usual numbers of strangers come. True: all is good.
    `timed`: a late user is a failure, too. It wants an idle machine."""
    found = True
    quiet: dict[tuple[str, str], Cell] = {}
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        for number, (name, what) in enumerate(cells):
            kind = KINDS[what]
            if not kind.each_second:
                kind = Kind(**{**vars(kind), "count": max(1, int(kind.count * share))})
            host = f"{SITE}:1::1" if kind.ipv6 else "127.0.0.1"
            folders = [Path(place) / f"{number}{part}" for part in "qs"]
            for folder in folders:
                folder.mkdir()
            if (name, host) not in quiet:
                quiet[name, host] = measured(name, None, folders[0], host, 0.5)
            base = quiet[name, host]
            if base.why:
                print(f"{name:8} {kind.title}: no user comes in without strangers: {base.why}")
                found = False
                continue
            cell = measured(name, kind, folders[1], host, hold)
            text, good = verdict(cell, base, timed=timed)
            if not good and not cell.why and cell.seconds - base.seconds > LATER:
                # Another process may have had the processors: the quicker of two counts.
                folders.append(Path(place) / f"{number}again")
                folders[-1].mkdir()
                again = measured(name, kind, folders[-1], host, hold)
                cell = min(cell, again, key=lambda each: (bool(each.why), each.seconds))
                text, good = verdict(cell, base, timed=timed)
            print(f"{name:8} {kind.title:36} {base.seconds:5.2f} s {text}", flush=True)
            if not good and cell.why:
                print("    " + cell.why.strip().replace("\n", "\n    ")[-500:], flush=True)
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)
            found = found and good
    return found


def in_own_network() -> None:
    """Goes on in a network of its own, whose loopback has a whole /48 of IPv6."""
    if os.environ.get("DOORS_INSIDE"):
        return
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    route = f"ip -6 route add local {SITE}::/48 dev lo && ip -6 address add {SITE}:1::1 dev lo"
    up = f'ip link set lo up && {route} && exec "$@"'
    os.execvpe(
        "unshare",
        ["unshare", "--net", *rights, "sh", "-c", up, "sh", sys.executable, *sys.argv],
        {**os.environ, "DOORS_INSIDE": "yes"},
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--short", action="store_true", help="each kind once, with fewer strangers")
    add("--doors", default=",".join(DOORS), help="default: %(default)s")
    add("--kinds", default=",".join(KINDS), help="default: %(default)s")
    given = parser.parse_args()
    in_own_network()
    doors, kinds = given.doors.split(","), given.kinds.split(",")
    every = SHORT if given.short else [(door, kind) for door in DOORS for kind in KINDS]
    cells = [(door, kind) for door, kind in every if door in doors and kind in kinds]
    print(
        f"bounds: {LATER:g} s later, {GROWN:g} MB more, {LOGGED:g} KB logged a minute", flush=True
    )
    hold, share = (0.5, 0.3) if given.short else (4.0, 1.0)
    return 0 if table(cells, hold, share, timed=not given.short) else 1


if __name__ == "__main__":
    sys.exit(main())
