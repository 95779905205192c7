"""The result of one task: what the measuring programs print."""

from dataclasses import dataclass
from typing import Any

from isthmus.measuring import tasks
from isthmus.measuring.tasks import Task


@dataclass(frozen=True)
class Run:
    """The result of one task for one contestant in one pass. `messages` is empty for round
    trips."""

    contestant: str
    round: int
    task: Task
    pairs: int
    seconds: tuple[float, ...]
    messages: tuple[float, ...] = ()
    variant: str = ""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "contestant": self.contestant,
            "pass": self.round,
            "task": self.task.text,
            "pairs": self.pairs,
            "seconds": list(self.seconds),
        }
        if self.messages:
            found["messages"] = list(self.messages)
        if self.variant:
            found["variant"] = self.variant
        return found


def run_from_json(data: dict[str, Any]) -> Run:
    """ValueError, KeyError or TypeError if the data is malformed."""
    task = tasks.parse(str(data["task"]))
    seconds = tuple(float(value) for value in data["seconds"])
    messages = tuple(float(value) for value in data.get("messages") or ())
    if not task.of_round_trips and len(seconds) != len(messages):
        raise ValueError(f"{task.text}: {len(seconds)} times and {len(messages)} counts")
    if any(value <= 0 for value in seconds):
        raise ValueError(f"{task.text}: a time that is not positive")
    return Run(
        str(data.get("contestant", "")),
        int(data.get("pass", 0)),
        task,
        int(data["pairs"]),
        seconds,
        messages,
        str(data.get("variant", "")),
    )
