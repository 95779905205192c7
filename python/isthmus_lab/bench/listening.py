"""Foreign programs that a contestant uses, while they listen."""

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus.measuring.ends import End
from isthmus.measuring.process import started

_LIMIT = 30  # seconds
_LIFETIME = "300"  # seconds, in case nobody is left to end it


@contextlib.contextmanager
def listening(end: End, command: Sequence[str], port: int) -> Iterator[None]:
    """Runs `command` there; begins once it listens at `port`. RunError if it does not."""
    script = f'PATH=$PATH:/usr/sbin; exec timeout {_LIFETIME} "$@"'
    look = f"until ss -Hltn 'sport = :{port}' | grep -q .; do sleep 0.05; done"
    wait = end.command(["timeout", str(_LIMIT), "sh", "-c", look])
    with started(end.command(["sh", "-c", script, "sh", *command]), None) as (process, said):
        try:
            subprocess.run(wait, stdin=subprocess.DEVNULL, check=True, timeout=4 * _LIMIT)
        except subprocess.SubprocessError:
            status = process.poll()
            ended = "" if status is None else f" (it ended with status {status})"
            raise RunError(
                f"{Path(command[0]).name} on {end.host or end.address} does not listen"
                f"{ended}{said.tail()}"
            ) from None
        yield
