"""A group of the CPU controller for each lab, where one can be made (as root, outside of others).

Outside of groups Linux shares cores out by sessions (kernel.sched_autogroup_enabled), as it would
between users. MPICH's ranks have a session each and Open MPI's one together; where ranks of the one
kind give way to each other, those of the other starve for seconds, as no host of a grid does to
another's (Linux 6.18, 2026-11).
"""

import contextlib
import os
import time
from pathlib import Path

_PATIENCE = 1.0  # seconds, until the kernel has cleared processes up that have ended


def group(name: str) -> Path | None:
    """The folder of a group of that name; None where this process cannot leave for one."""
    try:
        own = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    first, second = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    for line in own:
        _, controllers, path = line.split(":", 2)
        if path != "/":
            continue
        if "cpu" in controllers.split(",") and first.is_dir():
            return first / name
        with contextlib.suppress(OSError):
            if not controllers and "cpu" in (second / "cgroup.subtree_control").read_text().split():
                return second / name
    return None


def make(name: str) -> None:
    """A group, and this process in it. Where that cannot be, it stays where it is."""
    if folder := group(name):
        with contextlib.suppress(OSError):
            folder.mkdir()
            join(name)


def join(name: str) -> None:
    """From now on this process and its children are in the group, if there is one."""
    if (folder := group(name)) and folder.is_dir():
        with contextlib.suppress(OSError):
            (folder / "cgroup.procs").write_text("0")


def remove(name: str) -> None:
    """Of a group whose processes have ended."""
    folder = group(name)
    deadline = time.monotonic() + _PATIENCE
    while folder and folder.is_dir():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline or not os.access(folder, os.W_OK):
                return
            time.sleep(0.01)
