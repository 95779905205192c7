"""Other ways over the bridge of a zipper node: plain TCP by relays that everybody has."""

import contextlib
import getpass
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.bench.contestants import PLAIN_FIGURES, serving
from isthmus.errors import RunError
from isthmus.measuring.place import End, Place
from isthmus.measuring.process import measure, started
from isthmus.measuring.results import Run, run_from_json
from isthmus.measuring.tasks import Task

_PORT, _SSH_PORT = 7500, 7522  # every node of a lab has all ports to itself
_LISTEN_LIMIT = 15  # seconds
# Labs have an ssh of their own on the path.
_WHERE = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
_NEEDS = {"haproxy": ("haproxy",), "socat": ("socat",), "ssh": ("ssh", "sshd", "ssh-keygen")}
LABELS = {
    "haproxy": "plain TCP, HAProxy on a zipper node",
    "socat": "plain TCP, socat on a zipper node",
    "ssh": "plain TCP, ssh -L by a zipper node",
}


def relays(place: Place) -> tuple[list["Relayed"], list[str]]:
    """Those that are installed, and the names of those that are not."""
    if place.open or place.network is None or not _zippers(place):
        return [], []
    there = [kind for kind, needs in _NEEDS.items() if all(map(_find, needs))]
    return [Relayed(place, kind) for kind in there], [k for k in _NEEDS if k not in there]


def _zippers(place: Place) -> list[str]:
    nodes = place.network.nodes.values() if place.network else ()
    return [node.name for node in nodes if node.kind == "zipper"]


def _find(program: str) -> str | None:
    return shutil.which(program, path=_WHERE)


@dataclass(frozen=True)
class Relayed:
    """isthmus-tcpbench between nodes that only the relay joins, on the first zipper node."""

    place: Place
    kind: str
    ceiling: int | None = None
    figures: frozenset[str] = PLAIN_FIGURES

    @property
    def key(self) -> str:
        return f"relay-{self.kind}"

    @property
    def label(self) -> str:
        return LABELS[self.kind]

    def measure(self, tasks: Sequence[Task], number: int) -> list[Run]:
        near, far = self.place.ends
        token = secrets.token_hex(16) + "\n"
        texts = [task.text for task in tasks]
        with (
            serving(far, texts, token) as port,
            tempfile.TemporaryDirectory(prefix="isthmus-relay-") as folder,
            self._way(Path(folder), near, f"{far.address}:{port}") as (address, by),
        ):
            play = [near.tcpbench(), "play", address, str(by), *texts]
            return measure(near.command(play), tasks, self.key, number, run_from_json, stdin=token)

    def _way(
        self, folder: Path, near: End, target: str
    ) -> contextlib.AbstractContextManager[tuple[str, int]]:
        name = _zippers(self.place)[0]
        zipper = End(name, name, name)
        if self.kind == "ssh":
            return _tunnel(folder, near, zipper, target)
        program = str(_find(self.kind))
        if self.kind == "haproxy":
            file = folder / "haproxy.cfg"
            file.write_text(_HAPROXY.format(port=_PORT, target=target))
            return _listening(zipper, [program, "-db", "-f", str(file)], _PORT, name)
        listen = f"TCP-LISTEN:{_PORT},fork,reuseaddr,nodelay"
        return _listening(zipper, [program, listen, f"TCP:{target},nodelay"], _PORT, name)


_HAPROXY = """\
defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h
listen relay
    bind 0.0.0.0:{port}
    server far {target}
"""
_SSHD = """\
ListenAddress 0.0.0.0:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
AllowTcpForwarding yes
"""


@contextlib.contextmanager
def _listening(
    end: End, command: Sequence[str], port: int, address: str
) -> Iterator[tuple[str, int]]:
    """While `command` runs there; what it listens on. RunError when it does not."""
    look = f"until ss -Hltn 'sport = :{port}' | grep -q .; do sleep 0.05; done"
    wait = end.command(["timeout", str(_LISTEN_LIMIT), "sh", "-c", look])
    with started(end.command(command), None) as (_, said):
        if subprocess.run(wait, stdin=subprocess.DEVNULL, check=False).returncode != 0:
            raise RunError(f"{Path(command[0]).name} on {end.host} does not listen{said.tail()}")
        yield address, port


@contextlib.contextmanager
def _tunnel(folder: Path, near: End, zipper: End, target: str) -> Iterator[tuple[str, int]]:
    """By an sshd of its own, and keys that live as long."""
    for name in ("host", "key"):
        subprocess.run(
            [str(_find("ssh-keygen")), "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
            stdin=subprocess.DEVNULL,
            check=True,
        )
    config = folder / "sshd_config"
    config.write_text(_SSHD.format(port=_SSH_PORT, folder=folder))
    serve = [str(_find("sshd")), "-D", "-e", "-f", str(config)]
    options = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    dial = [str(_find("ssh")), "-F", "none", "-i", str(folder / "key"), "-p", str(_SSH_PORT)]
    dial += [word for option in options for word in ("-o", option)]
    dial += ["-o", "ExitOnForwardFailure=yes", "-N", "-L", f"127.0.0.1:{_PORT}:{target}"]
    dial += [f"{getpass.getuser()}@{zipper.address}"]
    with (
        _listening(zipper, serve, _SSH_PORT, zipper.address),
        _listening(near, dial, _PORT, "127.0.0.1") as there,
    ):
        yield there
