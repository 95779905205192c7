"""The load that other programs put on the machine during a benchmark."""

import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isthmus.base.errors import IsthmusError
from isthmus_lab.lab.check import lateness
from isthmus_lab.measuring.place import Place

# Cores. An idle lab on two cores, with its WAN boxes, takes less than 0.05 (November 2026).
BUSY = 0.25
_LOOK = 0.15  # seconds
_IDLE = (3, 4)  # idle and iowait, in the first line of /proc/stat


@dataclass(frozen=True)
class Machine:
    """`used`: the cores that were in use while nothing of the benchmark ran, the median of looks
    between the turns; `most`: the largest. `late`: the greatest lateness of a WAN box, in seconds,
    or None outside of labs."""

    used: float
    most: float
    cores: int
    late: float | None = None

    @property
    def busy(self) -> bool:
        return self.used > BUSY

    @property
    def sentence(self) -> str:
        said = (
            f"Between the turns other programs used {self.used:.2f} of {self.cores} cores "
            f"(median; at most {self.most:.2f})"
        )
        if self.late is not None:
            said += f"; the WAN boxes were at most {1e3 * self.late:.2f} ms late"
        return said + "."

    def as_json(self) -> dict[str, Any]:
        return {
            "used": self.used,
            "most": self.most,
            "cores": self.cores,
            "late": self.late,
            "busy": self.busy,
        }


def machine_from_json(data: dict[str, Any]) -> Machine:
    late = data["late"]
    return Machine(
        float(data["used"]),
        float(data["most"]),
        int(data["cores"]),
        None if late is None else float(late),
    )


@dataclass
class Looks:
    """Looks at the machine before each turn of a contestant."""

    _used: list[float] = field(default_factory=list)

    def look(self) -> None:
        self._used.append(used_cores(_LOOK))

    def machine(self, place: Place | None = None) -> Machine:
        """Call this at the end, while the lab of the place stands."""
        used = self._used or [0.0]
        return Machine(statistics.median(used), max(used), os.cpu_count() or 1, _late(place))


def used_cores(seconds: float) -> float:
    """The cores that run anything now; also those that the host of a virtual machine takes."""
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    passed = [late - early for early, late in zip(before, after, strict=True)]
    busy = sum(passed) - sum(passed[i] for i in _IDLE)
    return (os.cpu_count() or 1) * busy / max(1, sum(passed))


def _ticks() -> list[int]:
    """All cores have these together: user, nice, system, idle, iowait, irq, softirq, steal."""
    with Path("/proc/stat").open() as file:
        return [int(word) for word in file.readline().split()[1:9]]


def _late(place: Place | None) -> float | None:
    if place is None or place.lab is None or place.network is None or not place.network.boxes:
        return None
    try:
        return lateness(place.network, place.lab)
    except IsthmusError:
        return None
