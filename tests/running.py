"""Commands that run beside a test."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from types import TracebackType


class Running(subprocess.Popen[str]):
    """A command whose output is text.

    - readline() on an output takes one line only, so communicate() returns all lines after it.
    - A test that fails ends the command. Otherwise it would wait for the command and say nothing.
    """

    def __init__(self, command: Sequence[object], **settings: object) -> None:
        super().__init__(list(map(str, command)), text=True, bufsize=0, **settings)  # type: ignore[call-overload]
        for output in (self.stdout, self.stderr):
            if output is not None:
                output._CHUNK_SIZE = 1  # communicate() does not see what a reader has taken

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, value, traceback)
