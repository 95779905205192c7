"""The command that starts an agent, here or by the user's ssh."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from isthmus.base.errors import UsageError
from isthmus.grid import sshlinks
from isthmus.grid.reach import Entry
from isthmus.install import find_isthmusd
from isthmus.pages import page

SETUP_ENDED = "isthmus: setup ended with status"  # then the status, and mostly the command
SETUP_REMEDY = (
    "Run the lines of 'setup' in the grid file there by hand, in a login shell (bash -l)."
)


USUAL_PREFIX = "~/isthmus"  # where `isthmus install` puts Isthmus by default


def isthmusd_of(prefix: str | None, local: bool) -> str:
    """The command that starts isthmusd, below `prefix` if that is given. Otherwise this host, and
    nodes of a lab, which are this host, use this installation. Other hosts use their PATH, then
    USUAL_PREFIX."""
    if prefix is not None:
        path = f"{prefix.rstrip('/')}/bin/isthmusd"
        return str(Path(path).expanduser()) if local else path
    return str(find_isthmusd()) if local or "ISTHMUS_LAB" in os.environ else "isthmusd"


def agent_command(
    host: str | None,
    prefix: str | None,
    cwd: str,
    role: str,
    setup: Sequence[str] = (),
    door: str | None = None,
) -> list[str]:
    """`role` is "agent" or "gateway"; `setup` has lines that a login shell runs first. `door` is a
    unix socket on this host, to which ssh forwards connections from the other host.

    Local agents inherit the working directory. Remote ones enter the same directory if it exists,
    else they stay in the home directory, as ranks do under mpirun."""
    isthmusd = isthmusd_of(prefix, host is None)
    if setup:
        lines = [*_setting_up(setup), f"cd {shlex.quote(cwd)} 2>/dev/null || :"]
        lines += [f'set -- "${{isthmusd:-$({_sought("isthmusd")})}}"', "unset isthmusd"]
        lines += [f'exec "$1" {role}']
        # A login shell or a setup may set another PATH; the isthmusd that ssh finds goes first.
        found = f"isthmusd=$(command -v {remote_path(isthmusd)})"
        text = f"{found} exec bash -lc {shlex.quote(chr(10).join(lines))}"
        return shell_at(host, text, door)
    if host is None:
        return [isthmusd, role]
    enter = f'cd {shlex.quote(cwd)} 2>/dev/null; exec "$({_sought(isthmusd)})" {role}'
    return shell_at(host, enter, door)


def shell_at(host: str | None, text: str, door: str | None = None) -> list[str]:
    """The command that runs a shell's text on a host; `door` as of `agent_command`."""
    if host is None:
        return ["/bin/sh", "-c", text]
    if isinstance(host, Entry):
        return [*host.words, "sh", "-c", text]
    return [*ssh_command(door), host, f"exec sh -c {shlex.quote(text)}"]


def _sought(isthmusd: str) -> str:
    """A shell's text that prints where a command is. One without a folder is on the PATH or below
    USUAL_PREFIX. Whether the printed file exists is not checked: starting it tells."""
    if "/" in isthmusd:
        return f"printf %s {remote_path(isthmusd)}"
    return f"command -v {isthmusd} || printf %s {remote_path(f'{USUAL_PREFIX}/bin/{isthmusd}')}"


def _setting_up(setup: Sequence[str]) -> list[str]:
    """A setup neither reads the agent's input nor writes its output. One that fails ends the shell.
    An agent gets no input before its hello. Input that ends earlier means that the launcher or
    ssh is gone: then a setup that hangs ends, with everything it has started."""
    stop = "kill -KILL $isthmus_watch 2>/dev/null"
    at_the_end = "while ! read -r -t 0 -u 4; do sleep 1 4<&-; done; kill -HUP -- -$$"
    at_the_end += "; sleep 2 4<&-; kill -KILL -- -$$"  # for a shell that inherits an ignored HUP
    return [
        "set -e",
        "exec 3>&1 4<&0 1>&2 </dev/null",
        f"( {at_the_end} ) 3>&- & isthmus_watch=$!",
        "disown",  # for a setup that calls `wait`
        "trap 'isthmus_at=\": $BASH_COMMAND\"' ERR",
        f"trap 'echo \"{SETUP_ENDED} $?$isthmus_at\" >&2; {stop} || :' EXIT",
        *setup,
        "trap - EXIT ERR",
        "set +e",
        stop,
        "exec 1>&3 3>&- <&4 4<&-",
    ]


def remote_path(path: str) -> str:
    """Quotes a path as a word of a remote shell's command."""
    if path.startswith("~/"):
        return f'"$HOME"/{shlex.quote(path[2:])}'
    return shlex.quote(path)


def ssh_command(door: str | None = None) -> list[str]:
    """The user's ssh, with options for a silent, lasting pipe. ssh also forwards a
    port there to that socket. Without a terminal nobody can answer a prompt, so ssh must not
    ask."""
    options = ["-T", "-x"]
    options += sshlinks.options(door) if door else ["-o", "ClearAllForwardings=yes"]
    options += ["-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=10"]
    if not sys.stdin.isatty():
        options += ["-o", "BatchMode=yes"]
    return [*users_ssh(), *options, "--"]


def users_ssh() -> list[str]:
    """The words of the user's ssh command."""
    named = os.environ.get("ISTHMUS_SSH", "").strip() or "ssh"
    try:
        return shlex.split(named)
    except ValueError as error:
        raise UsageError(
            f"ISTHMUS_SSH is not a valid command line: {str(error).lower()}; it is '{named}'",
            "Write it as in a shell, such as ISTHMUS_SSH='ssh -F my.config'.",
        ) from None


@cache
def host_behind(target: str) -> str:
    """The network name of an ssh target, which may be an alias in the user's ssh configuration."""
    name = target.rpartition("@")[2]
    if isinstance(target, Entry):
        return name
    ssh = shlex.split(os.environ.get("ISTHMUS_SSH") or "ssh")
    with suppress(OSError, subprocess.TimeoutExpired):
        said = subprocess.run(
            [*ssh, "-G", target],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="surrogateescape",
            timeout=5, check=False,
        )  # fmt: skip
        for line in said.stdout.splitlines():
            if line.startswith("hostname "):
                return line.split()[1]
    return name


def try_reach(host: str, said: str = "") -> str:
    """The remedy for a host that is not reached. `said` has the words of ssh."""
    if isinstance(host, Entry):
        return f"Try: {host} true. If that fails, correct 'start' in the grid file."
    ssh = os.environ.get("ISTHMUS_SSH") or "ssh"
    if "Could not resolve hostname" in said:
        return "Correct the name of the host, or define it in ~/.ssh/config."
    if "Host key verification failed" in said:
        return f"Try: {ssh} {host} true, and accept its key if it is the right one."
    if any(words in said for words in _CLOSED):
        return (
            f"Try: {ssh} {host} true. If its ssh server has another port or is behind another "
            "host, write Port or ProxyJump into ~/.ssh/config."
        )
    return (
        f"Try: {ssh} {host} true. If that asks for a password or a code, first open a shared "
        f"connection (ControlMaster; {page('grid.md')}): without a terminal, ssh cannot ask."
    )


# OpenSSH 9.2 of a server that does not answer.
_CLOSED = ("Connection refused", "timed out", "No route to host", "Network is unreachable")


def shielded(host: str, command: list[str]) -> list[str]:
    """The same command, made to ignore Ctrl-C and Ctrl-Z. It stays in the terminal's foreground,
    where ssh can ask for a password. The launcher decides how the run ends, and stops its ranks.

    A signal that ends a process group must not end ssh before the launcher has told the agent what
    to do. A shared connection that ssh opens (ControlPersist) ignores these signals, too: it is the
    same process. A command in place of ssh may start the agent here, which would ignore them."""
    ignored = "INT QUIT TSTP" if isinstance(host, Entry) else "HUP INT QUIT TERM TSTP"
    return ["/bin/sh", "-c", f"trap '' {ignored}; exec \"$@\"", "sh", *command]
