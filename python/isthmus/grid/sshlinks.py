"""Links with `reach = "ssh"`. Their clusters meet at a relay beside the launcher. The ssh that
starts an agent forwards connections to the relay from a port on the far host's loopback."""

import asyncio
import os
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress

from isthmus.base.errors import RunError, UsageError
from isthmus.grid.grid import ClusterSpec, GatewaySpec, Grid, LinkSpec
from isthmus.pages import page

MEETING = "launcher"
_ALLOCATED = r"Allocated port (\d+) for remote forward"
_FAILED = r"(?i)remote port forwarding failed|forwarding request failed|prohibited"
# ssh prints these lines by itself at the log level that shows the port.
_CHATTER = r"(Authenticated to |Transferred: |Bytes per second: |mux_client_)"
_ANSWER_LIMIT = 10.0


def door(job: str) -> str:
    """The unix socket of this host at which the relay of a job listens."""
    runtime, tmpdir = (os.environ.get(name, "") for name in ("XDG_RUNTIME_DIR", "TMPDIR"))
    named = [runtime, "/tmp", tmpdir, "/dev/shm"]
    good = (f for f in named if f.startswith("/") and len(f) <= 48 and os.access(f, os.W_OK))
    return f"{next(good, '/tmp')}/{job}.door"


def expanded(grid: Grid) -> Grid:
    """The same grid, with a cluster that only forwards in place of all links by ssh. It comes last,
    so that the others connect to it."""
    by_ssh = _by_ssh(grid)
    if not by_ssh:
        return grid
    ends = {name: link for link in reversed(by_ssh) for name in link.between}
    # ssh encrypts; its one connection carries all streams, and sets the pace both ways.
    changes = {"streams": 1, "encrypt": False, "rate": None, "rtt": None, "congestion": None}
    links = [
        link.model_copy(update={**changes, "between": [name, MEETING]})
        for name, link in sorted(ends.items(), key=lambda end: list(grid.cluster).index(end[0]))
    ]
    return grid.model_copy(
        update={
            "cluster": {**grid.cluster, MEETING: ClusterSpec()},
            "gateway": [*grid.gateway, GatewaySpec(cluster=MEETING)],
            "link": [*(link for link in grid.link if link.reach != "ssh"), *links],
        }
    )


def meeting(grid: Grid, used: set[str]) -> set[str]:
    """The relay's name, if several of these clusters meet there."""
    ends = {name for link in _by_ssh(grid) for name in link.between}
    return {MEETING} if len(ends & used) > 1 else set()


def _by_ssh(grid: Grid) -> list[LinkSpec]:
    return [link for link in grid.link if link.reach == "ssh"]


def options(socket: str) -> list[str]:
    """Options of ssh that replace the ones that keep it from forwarding. A shared connection may
    carry the port, but none is begun for sharing. Forwardings of the user's that fail do not end
    it."""
    settings = ("ClearAllForwardings=no", "ExitOnForwardFailure=no", "ControlMaster=no")
    words = [word for setting in (*settings, "LogLevel=VERBOSE") for word in ("-o", setting)]
    return [*words, "-R", f"127.0.0.1:0:{socket}"]


class Forwarding:
    """The words of an agent's ssh about the port that it forwards."""

    def __init__(self) -> None:
        self._port: int | None = None
        self._failure: str | None = None
        self._news = asyncio.Event()

    def takes(self, line: str) -> bool:
        """Takes a line of ssh's. Returns True if users need not see it."""
        found = re.search(_ALLOCATED, line)
        if found:
            self._port = int(found[1])
        elif re.search(_FAILED, line):
            self._failure = self._failure or line
        self._news.set()
        return bool(found or re.match(_CHATTER, line))

    async def address(self, label: str) -> str:
        """The address at which gateways on that host reach the relay. RunError if the port is not
        forwarded."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._settled(), _ANSWER_LIMIT)
        if self._port is not None:
            return f"tcp:127.0.0.1:{self._port}"
        said = f" (it says: {self._failure})" if self._failure else ""
        raise RunError(
            f'{label}: ssh forwards no port from there{said}; reach = "ssh" needs that',
            "sshd there must allow it: AllowTcpForwarding yes (or remote), no DisableForwarding, "
            "and no PermitListen that leaves out 127.0.0.1. If it may not, let the clusters meet "
            f"at a [[relay]] that both can dial ({page('grid.md')}).",
        )

    async def _settled(self) -> None:
        while self._port is None and self._failure is None:
            self._news.clear()
            await self._news.wait()


def refuse_batch_jobs(grid: Grid, used: Iterable[str]) -> None:
    """UsageError, since batch jobs dial in and no ssh leads to them."""
    if meeting(grid, set(used)):
        raise UsageError(
            'a link has reach = "ssh", but batch jobs start the agents, and no ssh leads there',
            f"Name a host that the jobs' nodes can dial by [[relay]] instead ({page('grid.md')}).",
        )


def close(socket: str, targets: Iterable[str], ssh: list[str]) -> None:
    """Cancels what shared connections still forward."""
    for target in targets:
        command = [*ssh, "-O", "cancel", "-R", f"127.0.0.1:0:{socket}", target]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
            )
