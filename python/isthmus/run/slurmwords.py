"""The words of Slurm's srun and slurmstepd about a job on standard error: that it is queued, and
why it was ended. Slurm 22.05, 2026-11; older and newer versions say it alike."""

import re
import time
from collections.abc import Callable

_QUEUED = rb"srun: job (\d+) queued and waiting for resources"
_ALLOCATED = rb"srun: job (\d+) has been allocated resources"
_UNAVAILABLE = rb"srun: (Required node not available \(.*\))"
_CANCELLED = (
    rb"slurmstepd\S*: error: \*\*\* (?:JOB|STEP) (\d+)\S* ON (\S+) CANCELLED AT \S+?"
    rb"(?: DUE TO ([A-Z ]+)[^*]*)? \*\*\*"
)
_NODE = rb"srun: error: Node failure on (\S+)"
_REFUSED = rb"srun: error: (Unable to allocate resources|Unable to create step.*?): (.+)"
_LAUNCH = rb"srun: error: task (\d+) launch failed: (.+)"
_REVOKED = rb"srun: (?:Force Terminated (?:JobId=|job )(\d+)|Job has been cancelled)"
# Consequences of causes that are reported better.
_REST = (
    rb"srun: (?:Job step aborted: Waiting up to|forcing job termination"
    rb"|Job allocation \d+ has been revoked|launch/slurm: \S+: StepId=\S+ aborted before"
    rb"|error: \S+: tasks? [-\d,]+: )"
)
_CAUSES = {
    "TIME LIMIT": "its time limit has passed",
    "NODE FAILURE": "a node has failed",
    "PREEMPTION": "a job with a higher priority has taken its place",
}


class SlurmWords:
    """For one srun; `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._queued: float | None = None
        self._job = ""
        self._obstacle = ""
        self._verdict: tuple[int, str] | None = None  # its weight, and the words

    def hear(self, line: bytes) -> bool:
        """Whether the line is Slurm's, and is reported in other words."""
        if found := re.match(_QUEUED, line):
            self._job, self._queued = found[1].decode(), self._clock()
        elif found := re.match(_ALLOCATED, line):
            self._job, self._queued, self._obstacle = found[1].decode(), None, ""
        elif found := re.match(_UNAVAILABLE, line):
            self._obstacle = _text(found[1])
        elif found := re.match(_CANCELLED, line):
            cause = (found[3] or b"").decode().strip()
            self._job = found[1].decode()
            said = _CAUSES.get(cause) or (f"due to {cause.lower()}" if cause else "")
            self._judge(2 if cause else 1, said or "somebody cancelled it (scancel)")
        elif found := re.match(_NODE, line):
            self._judge(3, f"node {_text(found[1])} has failed")
        elif found := re.match(_REFUSED, line):
            self._judge(3, f"{_text(found[1])}: {_text(found[2])}")
        elif found := re.match(_LAUNCH, line):
            self._judge(2, f"task {_text(found[1])} could not be launched: {_text(found[2])}")
        elif found := re.match(_REVOKED, line):
            self._job = found[1].decode() if found[1] else self._job
            self._judge(4, "somebody cancelled it (scancel)")
        else:
            return bool(re.match(_REST, line))
        return True

    def _judge(self, weight: int, said: str) -> None:
        if self._verdict is None or weight > self._verdict[0]:
            self._verdict = (weight, said)

    @property
    def waits(self) -> str:
        """The state of a queued job, such as "queued, 12 min (Slurm job 5)"."""
        if self._queued is None:
            return ""
        seconds = self._clock() - self._queued
        span = f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"
        why = f": {self._obstacle}" if self._obstacle else ""
        return f"queued, {span} (Slurm job {self._job}{why})"

    @property
    def verdict(self) -> str:
        """Why Slurm has ended the job, or not begun it; empty if Slurm said nothing."""
        if self._verdict is None:
            return ""
        job = f" ended job {self._job}" if self._job else ""
        return f"Slurm{job}: {self._verdict[1]}"


def _text(words: bytes) -> str:
    return words.decode(errors="replace").strip()
