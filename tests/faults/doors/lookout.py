"""The socket that `isthmus ps` asks."""

from __future__ import annotations

import time

from faulty import processes

from doors.door import TWO, Door, KeptOutError, resident
from doors.strangers import Opening


class Lookout(Door):
    """A question to a run, at a unix socket of the same user."""

    held = ("isthmus run",)
    opening = Opening(b'{"ask": "abo', b'{"ask": "nothing"}\n')

    def open(self) -> None:
        self.start(TWO)
        self.ports = [str(path) for path in (self.folder / "runs").glob("isthmus-*")]

    def come(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            number = len(self.started)
            asked = self.isthmus("ps")
            asked.wait(60)
            if "faults.ompi" in self.said(number):
                return
            if time.monotonic() > deadline:
                raise KeptOutError(self.said(number))

    def memory(self) -> float:
        own = [pid for pid in processes(self.mark) if pid == self.started[0].pid]
        return sum(map(resident, own))
