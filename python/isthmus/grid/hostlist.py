"""Hosts on the command line of `isthmus run`, in place of a grid file: -H and --hostfile.

Each host is a cluster of its own. It has the host's name, and the MPI of the program there."""

import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import UsageError, joined
from isthmus.grid.grid import ClusterSpec, Grid

_HERE = ("localhost", "127.0.0.1")
_SHAPE = r"(?:([^\s@:,]+)@)?([A-Za-z0-9][A-Za-z0-9_.-]{0,63})(?::([0-9]+))?"
_WRITE = "Write -H lyon,tsukuba or -H lyon:2,tsukuba:4."


@dataclass(frozen=True)
class Host:
    """`target` is for ssh. `slots` is None if the user gave no number."""

    name: str
    target: str
    slots: int | None = None


def of_option(text: str) -> list[Host]:
    """The hosts of -H: "a,b" or "a:2,b:4". UsageError."""
    return _merged([_host(word, f"-H {text}", _WRITE) for word in text.split(",")])


def of_file(path: Path) -> list[Host]:
    """The hosts of --hostfile: a line for each, as Open MPI ("a slots=4") or MPICH ("a:4") write
    it. UsageError has all wrong lines."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot read the host file {path}: {why}") from None
    hosts: list[Host] = []
    errors: list[UsageError] = []
    for number, line in enumerate(lines, 1):
        try:
            hosts += _of_line(line.partition("#")[0].split(), f"{path}:{number}")
        except UsageError as error:
            errors.append(error)
    if errors:
        raise joined(errors)
    if not hosts:
        raise UsageError(f"the host file {path} names no host", "Write one host in each line.")
    return _merged(hosts)


def _of_line(words: list[str], where: str) -> Iterator[Host]:
    remedy = "Write a line such as 'lyon slots=4' or 'lyon:4'."
    if not words:
        return
    host = _host(words[0], where, remedy)
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key not in ("slots", "max_slots", "max-slots") or not value.isdecimal():
            raise UsageError(f"{where}: '{word}' has no meaning here", remedy)
        if key == "slots":
            host = _host(f"{words[0].partition(':')[0]}:{value}", where, remedy)
    yield host


def _host(word: str, where: str, remedy: str) -> Host:
    found = re.fullmatch(_SHAPE, word.strip())
    if not found:
        raise UsageError(f"{where}: '{word}' is not a host", remedy)
    user, name, slots = found.groups()
    if slots is not None and not 1 <= int(slots) <= 1 << 24:
        raise UsageError(f"{where}: '{slots}' is not a number of ranks for {name}", remedy)
    return Host(name, f"{user}@{name}" if user else name, int(slots) if slots else None)


def _merged(hosts: Sequence[Host]) -> list[Host]:
    """Each host once. One that is named several times has that many slots; if one host has a
    number, hosts without one have one slot. This is what Open MPI does."""
    found: dict[str, Host] = {}
    several = len({host.name for host in hosts}) < len(hosts)
    numbers = several or any(host.slots for host in hosts)
    for host in hosts:
        before = found.get(host.name)
        slots = (before.slots or 0 if before else 0) + (host.slots or 1) if numbers else None
        found[host.name] = Host(host.name, host.target, slots)
    return list(found.values())


def grid_of(hosts: Iterable[Host]) -> Grid:
    """A cluster for each. This host needs no ssh."""
    here = {*_HERE, socket.gethostname(), socket.gethostname().partition(".")[0]}
    clusters = {
        host.name: ClusterSpec(host=None if host.target in here else host.target, slots=host.slots)
        for host in hosts
    }
    return Grid(cluster=clusters)
