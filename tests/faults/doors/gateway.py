"""Gateways that have an address."""

from __future__ import annotations

from pathlib import Path

from doors.door import TWO, Door


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
