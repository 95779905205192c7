"""A run that other runs come to."""

from __future__ import annotations

from doors.door import TESTS, Door, compiled
from doors.strangers import by_tls


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
            ISTHMUS_HOME=runs,
        )  # fmt: skip
        self.wait(lambda: "connect: passed" in self.said(number), come, number)
