"""The traffic over the wide area of a lab during a contestant's turn."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isthmus.base.errors import IsthmusError
from isthmus_lab.lab import kernel, traffic
from isthmus_lab.lab.traffic import Row, Way
from isthmus_lab.measuring.place import Place

_LITTLE = 0.1  # part of the most in a millisecond


@dataclass(frozen=True)
class Crossed:
    """One direction of one link; rows count milliseconds from the beginning of the turn."""

    contestant: str
    round: int
    way: str
    rows: tuple[Row, ...]
    variant: str = ""

    @property
    def dropped(self) -> int:
        return sum(row[2] for row in self.rows)

    @property
    def bytes(self) -> int:
        return sum(row[1] for row in self.rows)

    def busiest(self, milliseconds: int) -> tuple[int, int]:
        """The first and last of this number of milliseconds in which most crossed, without a
        beginning in which little did."""
        times = [row[0] for row in self.rows]
        sums = [0]
        for _, sent, _ in self.rows:
            sums.append(sums[-1] + sent)

        def crossed(i: int) -> int:
            return sums[bisect.bisect(times, times[i] + milliseconds)] - sums[i]

        if not times:
            return 0, milliseconds
        i = max(range(len(times)), key=crossed)
        part = [row for row in self.rows[i:] if row[0] <= times[i] + milliseconds]
        most = max(sent for _, sent, _ in part)
        first = next(at for at, sent, _ in part if sent >= _LITTLE * most)
        return first, first + milliseconds

    def as_json(self) -> dict[str, Any]:
        return {
            "contestant": self.contestant,
            "pass": self.round,
            "way": self.way,
            "variant": self.variant,
            "milliseconds": [list(row) for row in self.rows],
        }


def crossed_from_json(data: dict[str, Any]) -> Crossed:
    rows = tuple((int(at), int(sent), int(lost)) for at, sent, lost in data["milliseconds"])
    return Crossed(
        str(data["contestant"]), int(data["pass"]), str(data["way"]), rows, str(data["variant"])
    )


@dataclass
class Watch:
    """Reads the counters of a lab's WAN boxes and kernels. A box that does not answer is left
    out."""

    place: Place
    _begun: list[tuple[Way, int]] = field(default_factory=list)
    _resent: int = 0

    def begin(self) -> None:
        self._begun = []
        self._resent = self._sent_again()
        lab, network = self.place.lab, self.place.network
        if lab is None or network is None:
            return
        try:
            self._begun = [(way, traffic.now(lab, way)) for way in traffic.ways(network)]
        except IsthmusError:
            return

    def keep(self, results: Any, contestant: str, number: int) -> None:
        """Adds the turn to samples: its traffic, and the segments that the kernels of all hosts
        sent again. (Samples know this module, so their type is not known here.)"""
        results.traffic += self._crossed(contestant, number)
        again = self._sent_again() - self._resent
        results.resent[contestant] = results.resent.get(contestant, 0) + again

    def _sent_again(self) -> int:
        lab, network = self.place.lab, self.place.network
        if lab is None or network is None:
            return 0
        total = 0
        for node in network.nodes:
            with kernel.inside(lab.namespace(node)):
                lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
            names, values = (line.split() for line in lines if line.startswith("Tcp:"))
            total += int(values[names.index("RetransSegs")])
        return total

    def _crossed(self, contestant: str, number: int) -> Sequence[Crossed]:
        assert self.place.lab or not self._begun
        found = []
        for way, begun in self._begun:
            try:
                rows = traffic.since(self.place.lab, way, begun) if self.place.lab else []
            except IsthmusError:
                continue
            moved = tuple((at - begun, sent, lost) for at, sent, lost in rows)
            found.append(Crossed(contestant, number, way.name, moved))
        return found
