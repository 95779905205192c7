"""HAProxy or stunnel in place of gateways; they encrypt the traffic of plain programs."""

import contextlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.base import hostport
from isthmus.base.errors import RunError
from isthmus.measuring.ends import End
from isthmus_lab.bench.listening import listening
from isthmus_lab.measuring.place import Place

_SUITE = "TLS_AES_128_GCM_SHA256"  # as in gateways


@dataclass(frozen=True)
class Hop:
    """One proxy: it takes connections, and makes one to `to` for each."""

    port: int
    to: str
    decrypts: bool = False
    encrypts: bool = False
    certificate: Path = Path()  # with its key, if it does either


def haproxy(hop: Hop) -> str:
    taken = f" ssl crt {hop.certificate} ciphersuites {_SUITE}" if hop.decrypts else ""
    made = f" ssl verify required ca-file {hop.certificate}" if hop.encrypts else ""
    return (
        # A port that another proxy has left open is reported, not shared with it.
        "global\n  noreuseport\n"
        "defaults\n  mode tcp\n  timeout connect 10s\n  timeout client 1h\n  timeout server 1h\n"
        f"listen hop\n  bind 0.0.0.0:{hop.port}{taken}\n  server next {hop.to}{made}\n"
    )


def _stunnel(hop: Hop) -> str:
    side = (
        f"client = yes\nCAfile = {hop.certificate}\nverifyChain = yes\n"
        if hop.encrypts
        else f"cert = {hop.certificate}\n"
    )
    return (
        f"foreground = yes\npid =\nsyslog = no\ndebug = err\nciphersuites = {_SUITE}\n"
        f"[hop]\naccept = 0.0.0.0:{hop.port}\nconnect = {hop.to}\n{side}"
    )


@dataclass(frozen=True)
class Tool:
    """`command` is followed by the path of a configuration."""

    command: tuple[str, ...]
    configuration: Callable[[Hop], str]

    def installed(self, ends: Sequence[End]) -> bool:
        """Whether it is installed at all of them, as far as they can be asked."""
        asked = ["sh", "-c", f"PATH=$PATH:/usr/sbin; command -v {self.command[0]}"]
        return all(
            subprocess.run(
                end.command(asked),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            ).returncode
            == 0
            for end in ends
        )


HAPROXY = Tool(("haproxy", "-db", "-f"), haproxy)
STUNNEL = Tool(("stunnel",), _stunnel)


def gateways(place: Place) -> list[End]:
    """The hosts of the two clusters' agents, with their gateways. For a lab, or one host."""
    hosts = [place.grid.cluster[end.cluster].host for end in place.ends]
    return [
        End(end.cluster, host, host or end.address)
        for end, host in zip(place.ends, hosts, strict=True)
    ]


@dataclass(frozen=True)
class Chain:
    """A path for plain TCP between the ends of a lab: over a proxy in place of each gateway. If
    `throughout`, it also goes over one beside each program, so that all legs between hosts are
    encrypted."""

    place: Place
    tool: Tool
    throughout: bool = False
    port: int = 7443  # of the first proxy; each further one takes the next port

    @contextlib.contextmanager
    def opened(self, port: int) -> Iterator[tuple[str, int]]:
        """Opens the path to a program at `port` of the far end. Yields where its partner
        connects."""
        hosts = gateways(self.place)
        near, far = self.place.ends
        if self.throughout:
            hosts = [near, *hosts, far]
        last = f"127.0.0.1:{port}" if self.throughout else hostport.join(far.address, port)
        onward = [
            *(hostport.join(host.address, self.port + i) for i, host in enumerate(hosts[1:], 1)),
            last,
        ]
        with (
            tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder,
            contextlib.ExitStack() as up,
        ):
            certificate = _certificate(Path(folder))
            for i, (host, to) in enumerate(zip(hosts, onward, strict=True)):
                hop = Hop(self.port + i, to, i > 0, i < len(hosts) - 1, certificate)
                file = Path(folder) / f"hop{i}.conf"
                file.write_text(self.tool.configuration(hop))
                up.enter_context(listening(host, [*self.tool.command, str(file)], hop.port))
            yield ("127.0.0.1" if self.throughout else hosts[0].address), self.port


def _certificate(folder: Path) -> Path:
    """A self-signed certificate, with its key in one file, as both tools read it."""
    file, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
    command += [
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=isthmus-bench",
    ]
    done = subprocess.run(
        [*command, "-keyout", str(key), "-out", str(file)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        raise RunError(f"openssl cannot make a certificate: {done.stderr.strip()[-200:]}")
    file.write_text(file.read_text() + key.read_text())
    return file
