"""Why a cluster's agent or its launcher does not start. Each cause has one sentence and one remedy,
the same in `isthmus run` and `isthmus doctor`."""

import re
from collections.abc import MutableSequence
from dataclasses import dataclass

from isthmus.command import SETUP_ENDED, SETUP_REMEDY, try_ssh
from isthmus.errors import PlacedError
from isthmus.gridkeys import expand_hosts
from isthmus.version import VERSION

_PREFIX_HERE = (
    "Correct 'prefix' of the cluster in the grid file (isthmusd is in its bin), or remove it."
)
SAME_VERSION = (
    "Install the same version on both: `isthmus install HOST` copies this one to a host. Or name "
    "another installation by 'prefix' in the grid file."
)
_PREFIX_THERE = (
    "Install Isthmus on that host (isthmus install HOST). If it is installed in another folder, "
    "set 'prefix' to that folder in the grid file."
)


def other_version(place: str, found: object) -> PlacedError:
    """The Isthmus at that place has another version than this one."""
    return PlacedError(
        place,
        f"Isthmus there is version {found}, here it is {VERSION}",
        SAME_VERSION,
    )


@dataclass(frozen=True)
class Trouble:
    """`what` is the doctor's word for it: "ssh", "setup" or "Isthmus"."""

    what: str
    sentence: str
    remedy: str


def cannot_start(program: str, reason: str | None) -> Trouble:
    """The system refuses to start a program on this host."""
    remedy = _PREFIX_HERE if program.endswith("/isthmusd") else ""
    return Trouble("Isthmus", f"cannot start {program}: {reason}", remedy)


def before_hello(target: str | None, status: int, setup: str) -> Trouble | None:
    """The process ended before isthmusd said a word. `target` is where ssh went, `setup` what
    `end_of_setup` found. Returns None if the status alone says nothing."""
    if setup:
        return Trouble("setup", f"its setup ended with status {setup}", SETUP_REMEDY)
    if target and status == 255:
        return Trouble("ssh", "ssh could not connect", try_ssh(target))
    if status in (126, 127):
        where = " there" if target else ""
        remedy = _PREFIX_THERE if target else _PREFIX_HERE
        return Trouble("Isthmus", f"isthmusd could not be started{where}", remedy)
    return None


def end_of_setup(lines: MutableSequence[str]) -> str:
    """The status of a setup that failed, and its line if known; both are removed from `lines`."""
    for said in list(lines):
        if said.startswith(SETUP_ENDED):
            lines.remove(said)
            return said.removeprefix(SETUP_ENDED).strip()
    return ""


# ssh prints these for a native launcher that starts ranks on other hosts. OpenSSH 9.2, 2026-11.
_HOSTS = "Correct 'hosts' of the cluster in the grid file."
_BY_HAND = "Try it from the cluster's own host: ssh {} true"
_OF_SSH = (
    (re.compile(rb"ssh: Could not resolve hostname (\S+): "), "there is no host '{}'", _HOSTS),
    (re.compile(rb"ssh: connect to host (\S+) port \d+: "), "host {} does not answer", _BY_HAND),
    (re.compile(rb"(?:\S+@)?(\S+): Permission denied \("), "host {} refuses ssh", _BY_HAND),
)


class LauncherWords:
    """Reads what a native launcher of one cluster says on standard error before its ranks run.
    Hydra (MPICH 4.0, 2026-11) does not end if it reaches no host, so its words must suffice."""

    def __init__(self, hosts: str | None) -> None:
        self._hosts = hosts

    def hear(self, data: bytes) -> str:
        """The sentence and the remedy, if a host of the cluster is not reached."""
        if not self._hosts or (b"ssh: " not in data and b"Permission denied" not in data):
            return ""
        for line in data.splitlines():
            for pattern, sentence, remedy in _OF_SSH:
                found = pattern.match(line)
                host = self._ours(found[1].decode(errors="replace")) if found else ""
                if host:
                    said = f"its launcher cannot start ranks: {sentence.format(host)}"
                    return f"{said}\n  {remedy.format(host)}"
        return ""

    def _ours(self, name: str) -> str:
        """The cluster's host by that name, from which Open MPI takes the domain; or nothing."""
        hosts = expand_hosts(self._hosts or "")
        short = [host for host in hosts if host.partition(".")[0] == name]
        return name if name in hosts else next(iter(short), "")
