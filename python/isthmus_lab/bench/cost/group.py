"""A control group counts the processor time of everything that a measurement starts."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from isthmus.base.errors import UsageError

_ROOT = Path("/sys/fs/cgroup")
_V1 = _ROOT / "cpuacct"
_LIMIT = 10.0  # seconds for the last processes to end


class Group:
    """Versions 1 and 2 of control groups. UsageError if this user may not make one."""

    def __init__(self) -> None:
        self._parent = _V1 if _V1.is_dir() else _ROOT
        self._before = self._parent / _present(v1=self._parent == _V1).lstrip("/")
        self._own = self._parent / f"isthmus-cost-{os.getpid()}"
        try:
            self._own.mkdir()
        except OSError as error:
            raise UsageError(
                f"processor time cannot be counted: {self._own}: {error.strerror}",
                "Run it as root, or in a lab of root's.",
            ) from None

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """This process and all that it starts are in the group."""
        self._move(self._own)
        try:
            yield
        finally:
            self._move(self._before)

    def seconds(self) -> float:
        """User and system time so far, of all parts."""
        return self._used(self._own)

    def parts(self) -> dict[str, float]:
        """The same of each part."""
        return {one.name: self._used(one) for one in self._folders()[1:]}

    def processes(self) -> list[int]:
        found: list[int] = []
        for one in self._folders():
            with contextlib.suppress(OSError):
                found += map(int, (one / "cgroup.procs").read_text().split())
        return found

    def move(self, process: int, part: str) -> None:
        """Counts a process, and all that it starts from now on, for this part. "" is none."""
        folder = self._own / part
        folder.mkdir(exist_ok=True)
        with contextlib.suppress(ProcessLookupError):
            (folder / "cgroup.procs").write_text(str(process))

    def close(self) -> None:
        """Waits for the last processes. A group that stays is reported by the system's tools."""
        deadline = time.monotonic() + _LIMIT
        while time.monotonic() < deadline:
            try:
                for one in reversed(self._folders()):
                    one.rmdir()
            except OSError:
                time.sleep(0.05)
            else:
                return

    def _folders(self) -> list[Path]:
        """Its own, and those of the parts."""
        return [self._own, *sorted(one for one in self._own.iterdir() if one.is_dir())]

    def _used(self, folder: Path) -> float:
        if self._parent == _V1:
            return int((folder / "cpuacct.usage").read_text()) / 1e9
        lines = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
        return int(lines["usage_usec"]) / 1e6

    @staticmethod
    def _move(to: Path) -> None:
        (to / "cgroup.procs").write_text(str(os.getpid()))


def _present(*, v1: bool) -> str:
    """The group of this process, such as "/user.slice"."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if ("cpuacct" in controllers.split(",")) if v1 else not controllers:
            return group
    return "/"
