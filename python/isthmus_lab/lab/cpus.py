"""A group of the CPU controller for each lab, if one can be made (as root, outside other groups).

Outside of groups Linux shares cores by sessions (kernel.sched_autogroup_enabled), as it would
between users. MPICH's ranks have a session each, and Open MPI's one together. If ranks of one kind
yield to each other, those of the other starve for seconds. Hosts of a real grid do not do that to
each other (Linux 6.18, 2026-11).
"""

import contextlib
import os
import time
from pathlib import Path

from isthmus.base.errors import RunError

LABS = "isthmus-lab-"  # the names of all groups begin with this
# A lab stays in the group of a test run (tools/cpu_group), which also holds its nodes' groups.
_OURS = (f"/{LABS}", "/isthmus-tests-")
_LEAST = 1000  # microseconds: the shortest turn that the kernel deals out
_PERIOD = 10_000  # microseconds, if turns are longer
_PATIENCE = 1.0  # seconds in which the kernel clears up ended processes


def group(name: str, ours: tuple[str, ...] = _OURS[:1]) -> Path | None:
    """The folder of a group of that name. Returns None if this process cannot leave its present
    group for one, since that is not one of `ours`."""
    try:
        own = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    first, second = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    for line in own:
        _, controllers, path = line.split(":", 2)
        if path != "/" and not path.startswith(ours):
            continue
        if "cpu" in controllers.split(",") and first.is_dir():
            return first / name
        with contextlib.suppress(OSError):
            if not controllers and "cpu" in (second / "cgroup.subtree_control").read_text().split():
                return second / name
    return None


def make(name: str) -> None:
    """Makes a group with this process in it. If that fails, the process stays where it is."""
    if folder := group(name):
        with contextlib.suppress(OSError):
            folder.mkdir()
            join(name)


def join(name: str) -> None:
    """Puts this process and its future children into the group, if it exists."""
    if (folder := group(name)) and folder.is_dir():
        with contextlib.suppress(OSError):
            (folder / "cgroup.procs").write_text("0")


def limited(name: str, cores: float) -> Path:
    """A group whose processes get this number of cores together, in turns as short as possible. A
    process that has used up its own turn waits for the next. RunError if that fails."""
    period = round(_LEAST / cores) if cores < 1 else _PERIOD
    quota = max(_LEAST, round(period * cores))
    folder = group(name, _OURS)
    try:
        if folder is None:
            raise PermissionError(0, "this process cannot leave its present group")
        folder.mkdir()
        if (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text(f"{quota} {period}")
        else:
            (folder / "cpu.cfs_period_us").write_text(str(period))
            (folder / "cpu.cfs_quota_us").write_text(str(quota))
    except OSError as error:
        raise RunError(
            f"the lab cannot make a group of the CPU controller: {error.strerror}",
            "Nodes with 'cores' need root, outside other groups, and a kernel with "
            "CONFIG_CFS_BANDWIDTH; or remove 'cores': --set 'site.*.cores=none'.",
        ) from None
    return folder


def remove(name: str) -> None:
    """Removes a group whose processes have ended, and the groups of its nodes."""
    folder = group(name, _OURS)
    if folder is None:
        return
    deadline = time.monotonic() + _PATIENCE
    for one in [*folder.parent.glob(f"{name}-*"), folder]:
        while one.is_dir():
            try:
                one.rmdir()
            except OSError:
                if time.monotonic() > deadline or not os.access(one, os.W_OK):
                    return
                time.sleep(0.01)
