"""Why a cluster's agent or its launcher does not start, or how the agent ends. Each cause has one
sentence, and one remedy if there is any, the same in `isthmus run` and `isthmus doctor`."""

import re
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import dataclass

from isthmus.base.endings import signal_name
from isthmus.base.errors import PlacedError
from isthmus.grid.gridkeys import expand_hosts
from isthmus.grid.reach import Entry, program_for
from isthmus.run.command import SETUP_ENDED, SETUP_REMEDY, try_reach
from isthmus.version import VERSION, WIRE, build_text, commit

_SSH_FAILED = 255  # the status of ssh for its own troubles, and if a signal has ended the agent
_ABANDONED = 75  # the status of an agent whose gateways all ranks have given up
_PREFIX_HERE = (
    "Correct 'prefix' of the cluster in the grid file (isthmusd is in its bin), or remove it."
)
SAME_VERSION = (
    "Install the same version on both, or versions with the same wire protocol: `isthmus install "
    "HOST` copies this one to a host. Or name another installation by 'prefix' in the grid file."
)
_PREFIX_THERE = (
    "Install Isthmus on that host (isthmus install HOST). If it is installed in another folder, "
    "set 'prefix' to that folder in the grid file."
)


def check_wire(place: str, hello: Mapping[str, object]) -> None:
    """PlacedError if the Isthmus at that place has another wire protocol than this one. Builds with
    the same number work together. `hello` is an agent's, or the answer of `examine`."""
    if hello.get("wire") != WIRE:
        raise PlacedError(place, other_wire(hello), SAME_VERSION)


def other_wire(hello: Mapping[str, object]) -> str:
    """The two builds in a sentence."""
    there = build_text(hello.get("version"), hello.get("commit"), hello.get("wire"))
    return f"Isthmus there is {there}, here it is {build_text(VERSION, commit(), WIRE)}"


@dataclass(frozen=True)
class Trouble:
    """`what` is the doctor's word for it: "ssh", the program of `start`, "setup" or "Isthmus"."""

    what: str
    sentence: str
    remedy: str


def cannot_start(program: str, reason: str | None) -> Trouble:
    """The system refuses to start a program on this host."""
    remedy = _PREFIX_HERE if program.endswith("/isthmusd") else ""
    return Trouble("Isthmus", f"cannot start {program}: {reason}", remedy)


def before_hello(
    target: str | None, status: int, setup: str, said: Sequence[str]
) -> Trouble | None:
    """The process ended before isthmusd said a word. `target` is where ssh went, `setup` what
    `end_of_setup` found, `said` the lines on its standard error. Returns None if the status alone
    says nothing."""
    if setup:
        return Trouble("setup", f"its setup ended with status {setup}", SETUP_REMEDY)
    if target and status == _SSH_FAILED and not isinstance(target, Entry):
        return Trouble("ssh", "ssh could not connect", try_reach(target, " ".join(said)))
    if status in (126, 127):
        where = " there" if target else ""
        remedy = _PREFIX_THERE if target else _PREFIX_HERE
        return Trouble("Isthmus", f"isthmusd could not be started{where}", remedy)
    if isinstance(target, Entry):
        sentence = f"{target.program} ended with status {status} before isthmusd had started"
        return Trouble(target.program, sentence, try_reach(target))
    return None


def end_of_setup(lines: MutableSequence[str]) -> str:
    """The status of a setup that failed, and its line if known; both are removed from `lines`."""
    for said in list(lines):
        if said.startswith(SETUP_ENDED):
            lines.remove(said)
            return said.removeprefix(SETUP_ENDED).strip()
    return ""


def how_agent_ended(target: str | None, status: int, *, said_hello: bool) -> str:
    """Says how an agent has ended. `target` is the host that ssh went to. A negative status is the
    signal that has killed the process on this host."""
    if target and status == _SSH_FAILED and said_hello:
        return "the connection was lost"
    if target and status < 0:
        return f"the {program_for(target)} of this launcher was killed by {signal_name(-status)}"
    if status == _ABANDONED:
        return "it was not heard for long, and leaves, since no rank uses it any more"
    if status < 0:
        return f"the agent was killed by {signal_name(-status)}"
    return f"the agent ended by itself with status {status}"


# ssh prints these for a native launcher that starts ranks on other hosts. OpenSSH 9.2, 2026-11.
_HOSTS = "Correct 'hosts' of the cluster in the grid file."
_BY_HAND = "Try it from the cluster's own host: ssh {} true"
_OF_SSH = (
    (rb"ssh: Could not resolve hostname (\S+): ", "there is no host '{}'", _HOSTS),
    (rb"ssh: connect to host (\S+) port \d+: ", "host {} does not answer", _BY_HAND),
    (rb"(?:\S+@)?(\S+): Permission denied \(", "host {} refuses ssh", _BY_HAND),
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
                found = re.match(pattern, line)
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
