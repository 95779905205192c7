"""The parts of a job whose processor time is counted apart: ends, gateways and proxies."""

import contextlib
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from isthmus_lab.bench.cost.group import Group

_PROC = Path("/proc")
_SOONEST, _LATEST = 0.02, 1.0  # seconds between two looks
_GATEWAYS = ("isthmusd",)
_PROXIES = ("haproxy", "stunnel", "stunnel4", "socat")
# Programs that start others. All other programs of a benchmark's job send or receive.
_STARTERS = ("python", "mpirun", "mpiexec", "orte", "prte", "hydra", "ssh", "sh", "bash")


def part(name: str) -> str:
    """The part of a process with this name (proc(5), comm)."""
    if name in _GATEWAYS:
        return "gateway"
    if name in _PROXIES:
        return "proxy"
    return "" if name == "isthmus" or name.startswith(_STARTERS) else "end"


class Sorter:
    """A thread that puts each process of a group into the group of its part. A part is named
    "end", or "end NODE" in a lab. Looks use the cores that are measured. So they become rare after
    an end has been seen, while nothing changes."""

    def __init__(self, group: Group, nodes: Mapping[int, str]) -> None:
        """`nodes`: names of a lab's nodes, by the inodes of their network namespaces."""
        self._group = group
        self._nodes = nodes
        self._parts: dict[int, str] = {}
        self._over = threading.Event()
        self._error: OSError | None = None
        self.used = 0.0  # seconds of this thread, after close(): the group has counted them, too
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """OSError if a process could not be moved. The parts are unknown then."""
        self._over.set()
        self._thread.join()
        if self._error:
            raise self._error

    def _run(self) -> None:
        pause = _SOONEST
        try:
            while not self._over.wait(pause):
                changed = self._look()
                begun = any(name.startswith("end") for name in self._parts.values())
                pause = min(_LATEST, 1.5 * pause) if begun and not changed else _SOONEST
        except OSError as error:
            self._error = error
        self.used = time.thread_time()

    def _look(self) -> bool:
        """Returns whether a process is new, or has become another program."""
        changed = False
        present = {one: self._part(one) for one in self._group.processes()}
        for process, name in present.items():
            if name is not None and self._parts.get(process) != name:
                self._group.move(process, name)
                changed = True
        self._parts = {one: name for one, name in present.items() if name is not None}
        return changed

    def _part(self, process: int) -> str | None:
        """Returns None if it has ended, or is the benchmark itself."""
        if process == os.getpid():
            return None
        folder = _PROC / str(process)
        with contextlib.suppress(OSError):
            found = part((folder / "comm").read_text().strip())
            node = self._nodes.get((folder / "ns/net").stat().st_ino)
            return f"{found} {node}" if found and node else found
        return None
