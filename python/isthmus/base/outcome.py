"""The end of a run: an exit status and, unless all went well, a sentence."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from isthmus.base.errors import IsthmusError


class Weight(IntEnum):
    """The order in which outcomes count if several come at once: a request of the user, MPI_Abort,
    a broken part. The exit status of a program comes last, because all of these cause it."""

    EXIT = 1
    FAULT = 2
    ABORT = 3
    USER = 4


@dataclass(frozen=True)
class Outcome:
    status: int
    sentence: str
    weight: Weight


class Ending:
    """The first outcome of the highest weight; whichever comes first starts the ending."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.outcome: Outcome | None = None
        self.killing = False  # this launcher is ending the ranks

    def end(self, status: int, sentence: str, weight: Weight) -> None:
        if self.killing and weight != Weight.USER:
            return
        if self.outcome is None or weight > self.outcome.weight:
            self.outcome = Outcome(status, sentence, weight)
        self.begun.set()

    def replace(self, status: int, sentence: str) -> None:
        """Replaces the sentence once more is known about the same outcome."""
        assert self.outcome
        self.outcome = Outcome(status, sentence, self.outcome.weight)

    @property
    def sentence(self) -> str:
        """The sentence that will be reported, as far as it is known."""
        return self.outcome.sentence if self.outcome else ""

    async def unless_begun(self, work: Coroutine[Any, Any, None]) -> bool:
        """Does the work, or drops it when the run has to end. Returns True if it was done. An
        IsthmusError of the work ends the run."""
        task = asyncio.create_task(work)
        ending = asyncio.create_task(self.begun.wait())
        try:
            await asyncio.wait({task, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
            if not task.done():
                task.cancel()
            await asyncio.wait({task})
        if task.cancelled():
            return False
        if error := task.exception():
            if not isinstance(error, IsthmusError):
                raise error
            self.end(error.status, str(error), Weight.FAULT)
            return False
        return not self.begun.is_set()
