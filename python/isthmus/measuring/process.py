"""Programs that print a line of JSON for each task: they are run, watched, and ended."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from isthmus.base.errors import RunError
from isthmus.run import troubles

_PARTING = 15.0  # seconds to end after the last line
_MOST_SAID = 600
QUOTE = "  | "  # stands before each line of a program's output


@contextlib.contextmanager
def started(
    command: Sequence[str], env: Mapping[str, str] | None, stdin: str | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], "Said"]]:
    """Afterwards the process is gone, with everything it has started. Its standard input is
    `stdin`, and stays open until then; or it is empty.

    At a terminal it stays in the foreground, where ssh can ask for a password. Its group is then
    this process's own, so processes that it leaves behind cannot be ended as a whole."""
    alone = not sys.stdin.isatty()
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=None if env is None else dict(env),
                start_new_session=alone,
            )
        except OSError as error:
            trouble = troubles.cannot_start(command[0], error.strerror)
            raise RunError(trouble.sentence, trouble.remedy) from None
        try:
            if stdin is not None:
                assert process.stdin
                with contextlib.suppress(OSError):
                    process.stdin.write(stdin.encode())
                    process.stdin.flush()
            yield process, Said(said.fileno())
        finally:
            _end(process, alone)
            for stream in (process.stdin, process.stdout):
                if stream:
                    with contextlib.suppress(OSError):
                        stream.close()


class Said:
    """The standard error of a process."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def tail(self) -> str:
        """The last lines, to be quoted below a sentence; may be empty."""
        size = os.fstat(self._fd).st_size
        text = os.pread(self._fd, _MOST_SAID, max(0, size - _MOST_SAID)).decode(errors="replace")
        return "".join(f"\n{QUOTE}{line}" for line in text.strip().splitlines()[-6:])


def _end(process: subprocess.Popen[bytes], alone: bool) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
    if alone:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def lines(process: subprocess.Popen[bytes], limits: Iterator[float]) -> Iterator[str]:
    """The output of a process, line by line. For each line the next of `limits` says how many
    seconds it may take. Ends with the output. TimeoutError if a line takes longer."""
    assert process.stdout
    fd, rest = process.stdout.fileno(), b""
    deadline = time.monotonic() + next(limits)
    while True:
        line, found, after = rest.partition(b"\n")
        if found:
            yield line.decode(errors="replace")
            rest, deadline = after, time.monotonic() + next(limits)
            continue
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            raise TimeoutError
        data = os.read(fd, 1 << 16)
        if not data:
            return
        rest += data


class BrokenOffError(RunError):
    """Some tasks were done before the program broke off: `runs`."""

    def __init__(self, message: str, runs: Sequence[Any]) -> None:
        super().__init__(message)
        self.runs = list(runs)


class Doable(Protocol):
    """A task: the text for the program, and the most seconds that it may take."""

    @property
    def text(self) -> str: ...
    @property
    def limit(self) -> float: ...


class Done(Protocol):
    @property
    def task(self) -> Doable: ...


DoneT = TypeVar("DoneT", bound=Done)


def measure(
    command: Sequence[str],
    tasks: Sequence[Doable],
    contestant: str,
    number: int,
    read: Callable[[dict[str, Any]], DoneT],
    *,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    start: float = 90.0,
) -> list[DoneT]:
    """Runs a measuring program and returns its results for each task. `read` makes one from the
    data of a line, the contestant and the pass. BrokenOffError if it fails before all are done. It
    may take `start` seconds to begin."""
    waiting = {task.text for task in tasks}
    longest = max((task.limit for task in tasks), default=0.0)
    runs: list[DoneT] = []
    limits = iter([start + longest, *[longest] * (len(tasks) + 1000)])
    with started(command, env, stdin) as (process, said):
        try:
            for line in lines(process, limits):
                if not line.startswith('{"task":'):
                    continue
                try:
                    data = {**json.loads(line), "contestant": contestant, "pass": number}
                    run = read(data)
                except (ValueError, KeyError, TypeError) as error:
                    raise RunError(f"the measuring program printed invalid data: {error}") from None
                runs.append(run)
                waiting.discard(run.task.text)
                if not waiting:
                    break
        except (TimeoutError, StopIteration):
            raise BrokenOffError(
                f"got stuck with {len(waiting)} of {len(tasks)} tasks to do{said.tail()}", runs
            ) from None
        # Some MPIs hang in MPI_Finalize now and then: the measurements stand.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PARTING)
        if waiting:
            raise BrokenOffError(
                f"ended with status {process.returncode} and {len(waiting)} of {len(tasks)} "
                f"tasks undone{said.tail()}",
                runs,
            )
    return runs
