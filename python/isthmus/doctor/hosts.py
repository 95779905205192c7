"""Examines a host by its own isthmusd, which is started as an agent is."""

import contextlib
import json
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isthmus.base.errors import IsthmusError
from isthmus.base.limits import Limits
from isthmus.grid.reach import program_for
from isthmus.measuring.process import QUOTE, lines, started
from isthmus.run import troubles
from isthmus.run.command import agent_command, isthmusd_of, try_reach

_CLOCK_READINGS = 5


class NotExaminedError(IsthmusError):
    """`what` is the name of the finding: "ssh", "setup" or "Isthmus"."""

    def __init__(self, what: str, sentence: str, remedy: str) -> None:
        super().__init__(sentence, remedy)
        self.what = what


@dataclass(frozen=True)
class HostFacts:
    """A host, as its isthmusd describes it. `clock` is how many seconds its clock is ahead of this
    host's, within `clock_doubt`. `ucx` is why UCX cannot be opened there. `by_session`: its kernel
    shares cores by sessions. `took` is how long it took to get there."""

    name: str
    version: str
    kernel: str
    cores: int
    machine: dict[str, Any]
    tcp: dict[str, str]
    interfaces: list[dict[str, Any]] = field(default_factory=list)
    mpi: dict[str, str] = field(default_factory=dict)
    ucx: str = ""
    by_session: bool = False
    clock: float = 0.0
    clock_doubt: float = 0.0
    took: float = 0.0
    commit: str = "unknown"
    wire: int = 0  # number of its wire protocol


def examine(
    host: str | None,
    prefix: str | None,
    mpi: str | None = None,
    launch: str | None = None,
    setup: Sequence[str] = (),
) -> HostFacts:
    """Examines an ssh target, or this host, after the `setup` of a cluster. NotExaminedError says
    why that fails."""
    begin = time.monotonic()
    with started(_command(host, prefix, mpi, launch, setup), None, "") as (process, said):
        said_lines = lines(process, _limits())
        try:
            first = _next_json(said_lines)
        except TimeoutError:
            raise NotExaminedError(
                program_for(host) if host else "Isthmus",
                f"no answer within {Limits().start:g} s{said.tail()}",
                try_reach(host) if host else "",
            ) from None
        if first is None:
            process.wait(10)
            raise _why_not(host, process.returncode, said.tail())
        took = time.monotonic() - begin
        readings = []
        assert process.stdin
        with contextlib.suppress(OSError, TimeoutError):
            for _ in range(_CLOCK_READINGS):
                before, monotonic = time.time(), time.monotonic()
                process.stdin.write(b"clock\n")
                process.stdin.flush()
                answer = _next_json(said_lines)
                if answer is None:
                    break
                trip = time.monotonic() - monotonic
                readings.append((trip / 2, float(answer["time"]) - (before + trip / 2)))
    doubt, offset = min(readings, default=(float("inf"), 0.0))
    return HostFacts(
        name=str(first.get("host", host)),
        version=str(first.get("version")),
        commit=str(first.get("commit") or "unknown"),
        wire=int(first.get("wire") or 0),
        kernel=str(first.get("kernel")),
        cores=int(first.get("cores") or 0),
        machine=dict(first.get("machine") or {}),
        tcp={str(k): str(v) for k, v in dict(first.get("tcp") or {}).items()},
        interfaces=list(first.get("interfaces") or []),
        mpi={str(k): str(v) for k, v in dict(first.get("mpi") or {}).items()},
        ucx=str(first.get("ucx") or ""),
        by_session=bool(first.get("cores_by_session")),
        clock=offset,
        clock_doubt=doubt,
        took=took,
    )


def _command(
    host: str | None,
    prefix: str | None,
    mpi: str | None,
    launch: str | None,
    setup: Sequence[str],
) -> list[str]:
    words = ["examine"]
    words += ["--mpi", mpi] if mpi else []
    words += ["--launch", launch] if launch else []
    if host is None and not setup:
        return [isthmusd_of(prefix, local=True), *words]
    return agent_command(host, prefix, str(Path.cwd()), shlex.join(words), setup)


def _limits() -> Iterator[float]:
    yield Limits().start
    while True:
        yield 10.0


def _next_json(said: Iterator[str]) -> dict[str, Any] | None:
    """Skips lines that a remote shell prints by itself; None at the end."""
    for line in said:
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict):
                    return found
    return None


def _why_not(host: str | None, status: int, said: str) -> NotExaminedError:
    lines = [line.removeprefix(QUOTE) for line in said.splitlines()]
    setup = troubles.end_of_setup(lines)
    trouble = troubles.before_hello(host, status, setup, lines)
    if trouble is None:
        return NotExaminedError(
            "Isthmus",
            f"isthmusd could not describe the host: it ended with status {status}{said}",
            "Install the same version of Isthmus everywhere.",
        )
    quoted = "\n".join(QUOTE + line for line in lines if line)
    sentence = f"{trouble.sentence}\n{quoted}" if quoted else trouble.sentence
    return NotExaminedError(trouble.what, sentence, trouble.remedy)
