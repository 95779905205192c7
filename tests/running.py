"""Commands that run beside a test."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType


def ran(command: Iterable[object], **settings: object) -> subprocess.CompletedProcess[str]:
    """A command that has ended, whatever its status. Its output is text, and its input empty."""
    if "input" not in settings:
        settings.setdefault("stdin", subprocess.DEVNULL)
    settings.setdefault("timeout", 240)
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **settings
    )  # type: ignore[call-overload]


def shell_script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


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
