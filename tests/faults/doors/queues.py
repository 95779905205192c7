"""The orchestrator of a submitted job."""

from __future__ import annotations

from pathlib import Path

from faulty import processes
from services import found_isthmusd

from doors.door import TESTS, Door, compiled, resident
from doors.strangers import by_tls

# In the place of Slurm's, for one host.
_QUEUE = {
    "sbatch": 'for script; do :; done; setsid sh "$script" >/dev/null 2>&1 & echo 1',
    "squeue": "echo RUNNING None",
    "scancel": "exit 0",
}


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
        here = [resident(pid) for pid, line in processes(self.mark).items() if self.is_of(line)]
        return max(here, default=0.0)
