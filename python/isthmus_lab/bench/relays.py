"""Other paths over a zipper node: plain TCP by common relays."""

import contextlib
import getpass
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from isthmus.base import hostport
from isthmus.measuring.ends import End
from isthmus_lab.bench import proxies
from isthmus_lab.bench.contestants import PlainTcp
from isthmus_lab.bench.listening import listening
from isthmus_lab.measuring.place import Place

_PORT, _SSH_PORT = 7500, 7522  # every node of a lab has all ports to itself
# Labs have an ssh of their own on the path.
_WHERE = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
_NEEDS = {"haproxy": ("haproxy",), "socat": ("socat",), "ssh": ("ssh", "sshd", "ssh-keygen")}
LABELS = {
    "haproxy": "plain TCP, HAProxy on a zipper node",
    "socat": "plain TCP, socat on a zipper node",
    "ssh": "plain TCP, ssh -L by a zipper node",
}


def relays(place: Place) -> tuple[list[PlainTcp], list[str]]:
    """The installed relays, and the names of those that are not installed."""
    if place.open or place.network is None or not _zippers(place):
        return [], []
    there = [kind for kind, needs in _NEEDS.items() if all(map(_find, needs))]
    made = [PlainTcp(place, f"relay-{k}", LABELS[k], way=Relay(place, k)) for k in there]
    return made, [k for k in _NEEDS if k not in there]


def _zippers(place: Place) -> list[str]:
    nodes = place.network.nodes.values() if place.network else ()
    return [node.name for node in nodes if node.kind == "zipper"]


def _find(program: str) -> str | None:
    return shutil.which(program, path=_WHERE)


@dataclass(frozen=True)
class Relay:
    """A relay on the first zipper node, which alone joins the two ends of a lab."""

    place: Place
    kind: str

    @contextlib.contextmanager
    def opened(self, port: int) -> Iterator[tuple[str, int]]:
        """Opens the path to a program at `port` of the far end. Yields where its partner
        connects."""
        near, far = self.place.ends
        name = _zippers(self.place)[0]
        zipper = End(name, name, name)
        target = hostport.join(far.address, port)
        with tempfile.TemporaryDirectory(prefix="isthmus-relay-") as folder:
            if self.kind == "ssh":
                with _tunnel(Path(folder), near, zipper, target):
                    yield "127.0.0.1", _PORT
                return
            with listening(zipper, self._command(Path(folder), target), _PORT):
                yield name, _PORT

    def _command(self, folder: Path, target: str) -> list[str]:
        program = str(_find(self.kind))
        if self.kind == "haproxy":
            file = folder / "haproxy.cfg"
            file.write_text(proxies.haproxy(proxies.Hop(_PORT, target)))
            return [program, "-db", "-f", str(file)]
        return [program, f"TCP-LISTEN:{_PORT},fork,reuseaddr,nodelay", f"TCP:{target},nodelay"]


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
def _tunnel(folder: Path, near: End, zipper: End, target: str) -> Iterator[None]:
    """Through an sshd of its own, with keys that live as long."""
    for name in ("host", "key"):
        subprocess.run(
            [str(_find("ssh-keygen")), "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
            stdin=subprocess.DEVNULL,
            check=True,
        )
    config = folder / "sshd_config"
    config.write_text(_SSHD.format(port=_SSH_PORT, folder=folder))
    # sshd's folder for the separation of privileges is missing if no sshd has run. This sshd has a
    # /run of its own, which ends with it.
    script = 'mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec "$@"'
    serve = ["unshare", "--mount", "sh", "-c", script, "sh"]
    serve += [str(_find("sshd")), "-D", "-e", "-f", str(config)]
    options = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    dial = [str(_find("ssh")), "-F", "none", "-i", str(folder / "key"), "-p", str(_SSH_PORT)]
    dial += [word for option in options for word in ("-o", option)]
    dial += ["-o", "ExitOnForwardFailure=yes", "-N", "-L", f"127.0.0.1:{_PORT}:{target}"]
    dial += [f"{getpass.getuser()}@{zipper.address}"]
    with (
        listening(zipper, serve, _SSH_PORT),
        listening(near, dial, _PORT),
    ):
        yield
