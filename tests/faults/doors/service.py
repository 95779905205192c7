"""A service for the jobs of many users."""

from __future__ import annotations

import re

from services import Service, found_isthmusd

from doors.door import Door
from doors.strangers import by_challenge


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
