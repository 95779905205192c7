"""Figures that must be reached, and whether they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from isthmus_lab.measuring.samples import NotMeasuredError

ResultsT = TypeVar("ResultsT")
Figure = Callable[[ResultsT], tuple[float, str]]


@dataclass(frozen=True)
class Limit(Generic[ResultsT]):
    """`figure` returns the value and a note; `unit` is empty for ratios."""

    testbed: str
    name: str
    sense: Literal["at least", "at most"]
    value: float
    figure: Figure[ResultsT]
    unit: str = ""

    def holds(self, value: float) -> bool:
        return value >= self.value if self.sense == "at least" else value <= self.value


@dataclass(frozen=True)
class Verdict:
    """`value` None: not measured; `note` says why. `refused`: the machine was too busy to judge."""

    limit: Limit[Any]
    value: float | None
    note: str
    refused: bool = False

    @property
    def well(self) -> bool:
        return self.value is not None and not self.refused and self.limit.holds(self.value)

    @property
    def word(self) -> str:
        if self.value is None:
            return "not measured"
        if self.refused:
            return "not judged: busy machine"
        return "ok" if self.well else "missed"

    def as_json(self) -> dict[str, Any]:
        return {
            "figure": self.limit.name,
            "sense": self.limit.sense,
            "limit": self.limit.value,
            "unit": self.limit.unit,
            "value": self.value,
            "well": self.well,
            "refused": self.refused,
            "note": self.note,
        }


def refused(verdicts: Sequence[Verdict], busy: bool) -> list[Verdict]:
    """The verdicts as they count; none do if the machine was busy."""
    return [replace(verdict, refused=busy) for verdict in verdicts]


def judge(limits: Sequence[Limit[ResultsT]], results: ResultsT) -> list[Verdict]:
    found = []
    for limit in limits:
        try:
            value, note = limit.figure(results)
        except NotMeasuredError as error:
            found.append(Verdict(limit, None, str(error)))
        else:
            found.append(Verdict(limit, value, note))
    return found
