"""One of two measured clusters, and the programs that measure there."""

import contextlib
import os
import shlex
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import IsthmusError, RunError
from isthmus.install import built, find_isthmusd
from isthmus.run.command import USUAL_PREFIX, remote_path, shell_at


@dataclass(frozen=True)
class End:
    """One of the two measured clusters. Plain TCP runs on `host` (an ssh target; None: here). The
    other end reaches it under `address`, at `port` if that is not 0."""

    cluster: str
    host: str | None
    address: str
    port: int = 0
    prefix: str | None = None  # where Isthmus is installed there
    compile_on: str | None = None
    mpi: str | None = None

    def command(self, argv: Sequence[str]) -> list[str]:
        """The command that runs `argv` there."""
        if self.host is None:
            return list(argv)
        words = " ".join([remote_path(argv[0]), *map(shlex.quote, argv[1:])])
        also = remote_path(f"{USUAL_PREFIX}/bin")
        return shell_at(self.host, f'PATH="$PATH":{also} exec {words}')

    def tcpbench(self) -> str:
        """The name of the program there."""
        if self.host is None or "ISTHMUS_LAB" in os.environ:
            return str(find_tcpbench())
        return f"{self.prefix}/bin/isthmus-tcpbench" if self.prefix else "isthmus-tcpbench"


def find_tcpbench() -> Path:
    return find_program("isthmus-tcpbench")


def find_program(name: str) -> Path:
    """ISTHMUS_PREFIX/bin, else beside isthmusd, the build tree of this checkout, or pip's."""
    candidates = []
    if named := os.environ.get("ISTHMUS_PREFIX"):
        candidates.append(Path(named) / "bin" / name)
    candidates += built(name)
    with contextlib.suppress(IsthmusError):
        candidates.append(find_isthmusd().with_name(name))
    candidates.append(Path(sysconfig.get_path("data")) / "bin" / name)
    for path in candidates:
        if os.access(path, os.X_OK):
            return path
    raise RunError(
        f"{name}, a compiled part of Isthmus, was not found; looked for {candidates[-1]}",
        f"Reinstall Isthmus, or set ISTHMUS_PREFIX to the folder with bin/{name}.",
    )
