"""A relay of the grid file."""

from __future__ import annotations

from doors.door import TWO, Door


class Relay(Door):
    """A start whose clusters meet at a relay."""

    def come(self) -> None:
        self.start(TWO + f"[[relay]]\naddress = '{self.shown}:{self.port}'\n")
