"""Ranks that dial each other."""

from __future__ import annotations

from pathlib import Path

from doors.door import Door


class Direct(Door):
    """A start whose ranks dial each other."""

    held = ("faults.ompi",)

    def __init__(self, folder: Path, host: str) -> None:
        super().__init__(folder, host)
        self.ports = [self.port + number for number in range(4)]

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
