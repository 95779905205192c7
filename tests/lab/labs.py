"""Labs of tests: `isthmus lab ...` with a home of its own; nothing of them may be left."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from marks import MARK, marked_processes
from running import Running, ran
from waiting import eventually


class Labs:
    """`isthmus lab ...` with a home for labs of its own."""

    def __init__(self, home: Path) -> None:
        self.mark = uuid.uuid4().hex
        self.home = home / "labs"
        self.started: list[Running] = []
        self.env = {
            **os.environ,
            MARK: self.mark,
            "ISTHMUS_HOME": str(home),
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        }

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "isthmus", "lab", *map(str, words)]

    def __call__(
        self, *words: object, timeout: float = 240, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return ran(self.command(*words), env={**self.env, **env}, timeout=timeout)

    def start(self, *words: object) -> Running:
        keeper = Running(
            self.command(*words), env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.started.append(keeper)
        return keeper

    @property
    def folders(self) -> list[Path]:
        return sorted(self.home.glob("*/"))

    @property
    def left(self) -> list[str]:
        return marked_processes(self.mark)


@contextlib.contextmanager
def labs() -> Iterator[Labs]:
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun may not be opened here, so there are no labs")
    # Slurm's sockets lie below it, and their paths have at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="labs-") as home:
        labs = Labs(Path(home))
        yield labs
        for keeper in labs.started:  # those of a test that failed
            keeper.kill()
            keeper.wait()
        eventually(lambda: not labs.left, f"the end of {labs.left}")


class StandingLab:
    """A lab that stays up for several tests."""

    def __init__(self, labs: Labs, *words: object) -> None:
        self.labs = labs
        self.process = labs.start("run", *words, "--", "sh", "-c", "echo up; exec sleep 3600")
        assert self.process.stdout
        said = self.process.stdout.readline()
        assert said == "up\n", self.process.communicate()
        self.id = labs.folders[0].name

    def exec(self, *command: object, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        return self.labs("exec", "--lab", self.id, "--", *command, timeout=timeout)

    def ask(self, command: str, *words: object, **env: str) -> subprocess.CompletedProcess[str]:
        """`isthmus lab COMMAND` about this lab, from outside."""
        return self.labs(command, "--lab", self.id, *words, **env)

    def python(self, program: str, *arguments: object) -> object:
        """Runs a program inside that prints JSON."""
        done = self.exec(sys.executable, "-c", program, *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=240)
