"""The common part of all doors of the table: processes of Isthmus, and their cost."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

from faulty import AS_ROOT, COMPILERS
from marks import MARK, processes
from ports import free_port
from waiting import eventually

from doors.strangers import Opening, by_challenge

TESTS = Path(__file__).parents[2]
TWO = "[cluster.east]\n[cluster.west]\n"
PATIENCE = 90  # seconds until a user is taken for kept out
_COMPILING = threading.Lock()


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
            "ISTHMUS_REACH": "gateway", "ISTHMUS_DEBUG_LEG": "socket",
            "ISTHMUS_HOME": str(folder),
        }  # fmt: skip
        self.port = free_port(4)
        self.ports: list[int | str] = [self.port]
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

    def isthmus(
        self, *words: object, stdin: IO[str] | int = subprocess.DEVNULL, **more: str
    ) -> subprocess.Popen[str]:
        number = len(self.started)
        files = [(self.folder / f"{number}.{name}").open("w") for name in ("out", "err")]
        process = subprocess.Popen(
            [sys.executable, "-m", "isthmus", *map(str, words)],
            env={**self.environment, **more}, stdin=stdin,
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
        return sum(resident(pid) for pid, line in processes(self.mark).items() if self.is_of(line))

    def is_of(self, line: str) -> bool:
        return any(word in line for word in self.held)

    def logged(self) -> int:
        """Bytes, in all files that Isthmus has written."""
        ends = (".err", ".log", "err")
        return sum(f.stat().st_size for f in self.folder.rglob("*") if f.name.endswith(ends))


def compiled(folder: Path, source: Path) -> Path:
    program = folder / f"{source.stem}.ompi"
    with _COMPILING:
        if not program.exists():
            command = [COMPILERS["ompi"], "-O1", str(source), "-o", str(program)]
            subprocess.run(command, check=True, capture_output=True)
    return program


def resident(pid: int) -> float:
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
    return 0.0
