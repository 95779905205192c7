"""The samples of a benchmark, of any kind."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from isthmus_lab.measuring.machine import Machine, machine_from_json
from isthmus_lab.measuring.traffic import Crossed, crossed_from_json


class NotMeasuredError(Exception):
    """A figure has no samples; the text says which contestant's."""


KeyT = TypeVar("KeyT")


def where_measured(
    keys: Iterable[KeyT], value: Callable[[KeyT], float], otherwise: str = ""
) -> dict[KeyT, float]:
    """The values of the keys that have samples. `otherwise` is the error if no key has."""
    found = {}
    for key in keys:
        with suppress(NotMeasuredError):
            found[key] = value(key)
    if otherwise and not found:
        raise NotMeasuredError(otherwise)
    return found


class Sample(Protocol):
    """The result of one task for one contestant in one pass, in one variant of the testbed."""

    @property
    def contestant(self) -> str: ...
    @property
    def variant(self) -> str: ...
    def as_json(self) -> dict[str, Any]: ...


SampleT = TypeVar("SampleT", bound=Sample)


@dataclass
class Samples(Generic[SampleT]):
    """All measurements. `labels` names the contestants, in the order in which they are shown.
    `failures` says what could not be measured. `failed` are contestants whose last turn failed.
    `traffic` is the traffic over the wide area of a lab, if that was asked for. `machines` says how
    busy the machine was, by variant. `resent`, by contestant, counts the TCP segments that the
    kernels of a lab's nodes sent again, if traffic was asked for."""

    labels: dict[str, str] = field(default_factory=dict)
    runs: list[SampleT] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list, kw_only=True)
    traffic: list[Crossed] = field(default_factory=list, kw_only=True)
    machines: dict[str, Machine] = field(default_factory=dict, kw_only=True)
    resent: dict[str, int] = field(default_factory=dict, kw_only=True)

    @staticmethod
    def read(data: dict[str, Any]) -> SampleT:
        """The inverse of a sample's `as_json`."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "contestants": self.labels,
            "runs": [run.as_json() for run in self.runs],
            "failures": self.failures,
            "failed": self.failed,
            "machines": {variant: found.as_json() for variant, found in self.machines.items()},
        }
        if self.traffic:
            found["traffic"] = [one.as_json() for one in self.traffic]
            found["resent"] = self.resent
        return found

    def merge(self, data: dict[str, Any], variant: str = "") -> None:
        """Adds what `as_json` returned elsewhere, under this variant if one is named."""
        self.labels |= data["contestants"]
        for item in data["runs"]:
            self.runs.append(self.read({**item, "variant": variant} if variant else item))
        before = f"{variant}: " if variant else ""
        self.failures += [before + text for text in data["failures"]]
        self.failed += [before + key for key in data["failed"]]
        for own, found in (data.get("machines") or {}).items():
            self.machines[variant or own] = machine_from_json(found)
        for key, count in (data.get("resent") or {}).items():
            self.resent[key] = self.resent.get(key, 0) + int(count)
        for item in data.get("traffic") or ():
            self.traffic.append(crossed_from_json({**item, "variant": variant or item["variant"]}))

    def dropped(self, contestant: str) -> int:
        """The segments that the wide area dropped during the contestant's turns."""
        found = [one.dropped for one in self.traffic if one.contestant == contestant]
        if not found:
            label = self.labels.get(contestant, contestant)
            raise NotMeasuredError(f"{label}: the wide area was not watched")
        return sum(found)

    def sent_again(self, contestant: str) -> int:
        """The segments that the nodes' kernels sent again during the contestant's turns."""
        if contestant not in self.resent:
            label = self.labels.get(contestant, contestant)
            raise NotMeasuredError(f"{label}: the nodes' kernels were not asked")
        return self.resent[contestant]

    @property
    def busy(self) -> bool:
        """Whether other programs kept the machine so busy that no figure can be judged."""
        return any(machine.busy for machine in self.machines.values())

    def measured(self) -> list[str]:
        """Contestants with samples."""
        seen = {run.contestant for run in self.runs}
        return [key for key in self.labels if key in seen]
