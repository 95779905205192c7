"""Keys: a certificate with its private key. One opens the door of a job to each part, one is the
door's own and stays in the memory of its process (decision 0023).

Certificates are known by their marks, never by who signed them or by their times: clocks differ."""

import contextlib
import hashlib
import os
import ssl
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import RunError

_DAYS = 400  # a certificate must have an end; nobody looks at it
_NO_CHECK_TIME = ssl.VerifyFlags(0x200000)  # X509_V_FLAG_NO_CHECK_TIME, which ssl does not name
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def mark_of(certificate: bytes) -> str:
    """The name of a certificate; join.py computes the same."""
    return hashlib.sha256(certificate).hexdigest()


def server_name(mark: str) -> str:
    """The name of a door in the first record of TLS, which is readable on the network. A door lets
    callers with it go first, and still asks for the proof. joiner.py computes the same."""
    return hashlib.sha256(f"isthmus door {mark}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Key:
    """`text` is both in PEM."""

    text: str

    @property
    def certificate(self) -> str:
        return self.text[self.text.index(_BEGIN) : self.text.index(_END) + len(_END)] + "\n"

    @property
    def mark(self) -> str:
        return mark_of(ssl.PEM_cert_to_DER_cert(self.certificate))

    def of_part(self, door: "Key") -> str:
        """The file of a part: its key, and by which mark it knows the door."""
        return f"door {door.mark}\n{self.text}"


def make_key() -> Key:
    """Raises RunError if openssl is missing or fails."""
    try:
        made = subprocess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(_DAYS),
                "-subj", "/CN=isthmus", "-keyout", "-", "-out", "-",
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError as error:
        raise RunError(
            f"no key can be made: openssl: {error.strerror}", "Install openssl here."
        ) from None
    if made.returncode != 0:
        raise RunError(f"no key can be made: openssl says: {made.stderr.strip()}")
    return Key(made.stdout)


def server_context(key: Key) -> ssl.SSLContext:
    """TLS 1.3 in which this end shows `key`."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    with _as_file(key.text) as file:
        made.load_cert_chain(file)
    return made


@contextlib.contextmanager
def _as_file(text: str) -> Iterator[str]:
    """ssl reads private keys from files alone. This one is in memory, where the system has such."""
    try:
        fd = os.memfd_create("isthmus key")
    except OSError:
        with tempfile.TemporaryDirectory() as folder:
            yield str(write_private(Path(folder) / "key.pem", text))
        return
    try:
        os.write(fd, text.encode())
        yield f"/proc/self/fd/{fd}"
    finally:
        os.close(fd)


def write_private(file: Path, text: str) -> Path:
    """A new file that nobody else may read. OSError where there is something of that name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o600), "w", errors="surrogateescape") as out:
        out.write(text)
    return file


class Lock:
    """The door of a job knows its parts by this: each key is that of one cluster."""

    def __init__(self, door: Key, parts: Mapping[str, Key]) -> None:
        self._clusters = {key.mark: cluster for cluster, key in parts.items()}
        self.context = server_context(door)
        self.context.load_verify_locations(cadata="".join(k.certificate for k in parts.values()))
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.context.verify_flags |= _NO_CHECK_TIME

    @property
    def names(self) -> frozenset[str]:
        """The names that the parts use for the door: each its own, made from its mark."""
        return frozenset(map(server_name, self._clusters))

    def cluster_of(self, certificate: bytes | None) -> str | None:
        """Whose key was shown; None: of no part."""
        return self._clusters.get(mark_of(certificate)) if certificate else None
