"""What `isthmus bench cost` measures, and its samples."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from isthmus.measuring import tasks
from isthmus.measuring.runs import Run
from isthmus.measuring.tasks import KIB, MIB, Task
from isthmus_lab.measuring.samples import NotMeasuredError, Samples


@dataclass(frozen=True)
class Work:
    """Two jobs that differ only in the number of messages. The difference of their times is the
    cost of the additional messages, without start, warm-up and end."""

    label: str
    task: Task
    short: Task

    @property
    def per_byte(self) -> bool:
        """Whether the cost is shown for a gigabyte. Otherwise it is for a message."""
        return self.task.bytes >= 64 * KIB


def works(scale: float) -> tuple[Work, ...]:
    """`scale` multiplies the default number of messages. The jobs of a pass run one after the
    other."""

    def work(label: str, figure: str, size: int, rounds: int, least: int, seconds: float) -> Work:
        task = Task(figure, size, least + max(1, round(rounds * scale)), seconds)
        return Work(label, task, replace(task, rounds=least))

    return (
        work("8 B there and back", "pingpong", 8, 20_000, 10, 0),
        work("1 KiB there and back", "pingpong", KIB, 20_000, 10, 0),
        work("64 KiB there and back", "pingpong", 64 * KIB, 8000, 10, 0),
        work("8 B one way", "rate", 8, 3, 1, 1.0),
        work("1 MiB one way", "stream", MIB, 3, 1, 1.0),
        work("64 MiB one way", "stream", 64 * MIB, 3, 1, 1.0),
    )


@dataclass(frozen=True)
class CostRun:
    """The result of one task for one contestant in one pass. `processor` is the user and system
    time of all processes of the job, in seconds. `parts` has that of its parts, by name. `seconds`
    are those on the clock."""

    contestant: str
    round: int
    task: Task
    messages: float
    processor: float
    seconds: float
    variant: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "contestant": self.contestant,
            "pass": self.round,
            "task": self.task.text,
            "messages": self.messages,
            "processor": self.processor,
            "seconds": self.seconds,
            "parts": dict(self.parts),
            **({"variant": self.variant} if self.variant else {}),
        }


def cost_of(
    runs: Sequence[Run], processor: float, parts: Mapping[str, float] | None = None
) -> CostRun:
    """Makes the result of a task from its runs. A round trip is two messages."""
    run = runs[0]
    messages = sum(run.messages) if run.messages else 2.0 * len(run.seconds)
    seconds = sum(run.seconds)
    parts = parts or {}
    return CostRun(run.contestant, run.round, run.task, messages, processor, seconds, parts=parts)


def read_cost(data: dict[str, Any]) -> CostRun:
    """ValueError, KeyError or TypeError if the data is malformed."""
    return CostRun(
        str(data["contestant"]),
        int(data["pass"]),
        tasks.parse(str(data["task"])),
        float(data["messages"]),
        float(data["processor"]),
        float(data["seconds"]),
        str(data.get("variant", "")),
        {str(name): float(seconds) for name, seconds in data["parts"].items()},
    )


class CostResults(Samples[CostRun]):
    read = staticmethod(read_cost)

    def parts(self, contestant: str) -> list[str]:
        """The names of the parts that take more than a twentieth of a job."""
        return sorted(
            {
                name
                for run in self.runs
                if run.contestant == contestant
                for name, used in run.parts.items()
                if used > run.processor / 20
            }
        )

    def processor(self, contestant: str, work: Work, part: str | None = None) -> float:
        """Median over the passes: seconds of processor time a message, of a part or of all. The
        program chooses the number of messages of a job. A pass in which both jobs have the same
        number says nothing."""

        def used(run: CostRun) -> float:
            return run.processor if part is None else run.parts.get(part, 0.0)

        short = {run.round: run for run in self._of(contestant, work.short)}
        found = [
            (used(run) - used(short[run.round])) / (run.messages - short[run.round].messages)
            for run in self._of(contestant, work.task)
            if run.round in short and run.messages != short[run.round].messages
        ]
        if not found:
            label = self.labels.get(contestant, contestant)
            raise NotMeasuredError(f"{label}: {work.label}: no two jobs of different length")
        return statistics.median(found)

    def work(self, figure: str, size: int) -> Work:
        """The work with this figure and size, at any scale."""
        found = {run.task for run in self.runs}
        tasks_ = [task for task in found if (task.figure, task.bytes) == (figure, size)]
        if len(tasks_) < 2:
            raise NotMeasuredError(f"the cost of {figure} of {size} B was not measured")
        short, *_, long = sorted(tasks_, key=lambda task: task.rounds)
        return Work(figure, long, short)

    def clock(self, contestant: str, work: Work) -> float:
        """Median over the passes: seconds a message."""
        return statistics.median(r.seconds / r.messages for r in self._of(contestant, work.task))

    def _of(self, contestant: str, task: Task) -> list[CostRun]:
        found = [run for run in self.runs if (run.contestant, run.task) == (contestant, task)]
        if not found:
            label = self.labels.get(contestant, contestant)
            raise NotMeasuredError(f"{label}: {task.text} not measured")
        return found
