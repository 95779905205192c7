"""The load of the machine under a lab, which decides whether figures prove anything."""

import os
from dataclasses import dataclass
from typing import Any

from isthmus.errors import IsthmusError
from isthmus_lab.lab.check import lateness
from isthmus_lab.measuring.place import Place


@dataclass(frozen=True)
class Machine:
    """`load` of other programs when the measurement began, on `cores` cores. `late`: the greatest
    lateness of an emulated link, in seconds."""

    load: float
    cores: int
    late: float

    @property
    def sentence(self) -> str:
        busy = f"The machine had a load of {self.load:.1f} on {self.cores} cores when this began"
        return f"{busy}; the WAN's boxes were at most {1e3 * self.late:.2f} ms late."

    def as_json(self) -> dict[str, Any]:
        return {"load": self.load, "cores": self.cores, "late": self.late}


def machine_from_json(data: dict[str, Any]) -> Machine:
    return Machine(float(data["load"]), int(data["cores"]), float(data["late"]))


def examine(place: Place, load: float) -> Machine | None:
    """Call this at the end of a measurement that began with this load. None outside labs."""
    if place.lab is None or place.network is None:
        return None
    try:
        return Machine(load, os.cpu_count() or 1, lateness(place.network, place.lab))
    except IsthmusError:
        return None
