"""Commands that run beside a test."""

import subprocess
from types import TracebackType


class Running(subprocess.Popen[str]):
    """Ends with a test that fails: otherwise that would wait for it, and say nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, value, traceback)
