"""The connection of a part to its job's orchestrator. It stands beside join.py (joiner.py), and
needs as little."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

FIRST_PAUSE, CONNECT_PAUSE = 0.25, 5.0  # seconds between attempts to reach the orchestrator
MAX_LINE = 1 << 16
GONE = "the job's orchestrator has gone away while others were awaited"
LOOK = "\n  `isthmus attach JOB`, where the job was submitted, shows its last messages."


class JoinError(Exception):
    """A sentence for the user."""


def said_of(error: OSError) -> str:
    """In OpenSSL's words, or the system's."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or str(error)).lower().replace("_", " ")
    return error.strerror or str(error)


class Key:
    """A part's key. It is kept in memory: its file is removed once the job begins."""

    def __init__(self, path: str) -> None:
        """JoinError unless it is one."""
        self.path = path
        self.door = door_of(path)
        self.name = server_name(path)
        self.context = context(path)

    def forget(self) -> None:
        """It has opened the door, or will not any more."""
        with contextlib.suppress(OSError):
            Path(self.path).unlink()


def context(key: str) -> ssl.SSLContext:
    """TLS 1.3 in which this end shows its own certificate. The door's certificate is checked after
    it has come. Its mark identifies it, and its times do not matter, since clocks differ."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    try:
        made.load_cert_chain(key)
    except (OSError, ssl.SSLError) as error:
        raise JoinError(f"{key} is not the key of a part of a job: {said_of(error)}") from None
    return made


def door_of(path: str) -> str:
    """The mark of the job's door, as the file of the part's key says. JoinError unless it is there
    and nobody else may read it."""
    try:
        mode = Path(path).stat().st_mode
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise JoinError(
            f"cannot read the part's key {path}: {why}\n"
            "  It is CLUSTER.pem in ~/.isthmus-jobs/JOB there, until the job begins or ends."
        ) from None
    if mode & 0o077:
        raise JoinError(f"others may read the part's key {path}\n  chmod 600 {path}")
    first = text.partition("\n")[0].split()
    if len(first) != 2 or first[0] != "door":
        raise JoinError(f"{path} is not the key of a part of a job: it does not begin with 'door'")
    return first[1]


def server_name(key: str) -> str:
    """The name of the door in the first record of TLS, as in keys.py. Strangers do not know it, so
    they do not delay this part."""
    text = Path(key).read_text()
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    if begin not in text or end not in text:
        raise JoinError(f"{key} is not the key of a part of a job: it has no certificate")
    certificate = ssl.PEM_cert_to_DER_cert(text[text.index(begin) : text.index(end) + len(end)])
    mark = hashlib.sha256(certificate).hexdigest()
    return hashlib.sha256(f"isthmus door {mark}".encode()).hexdigest()[:32]


class Stream:
    """A connection with TLS that one thread reads and another one writes, which ssl.SSLSocket does
    not allow: with it, 10 of 123 agents lost what they said first (November 2026)."""

    def __init__(self, plain: socket.socket, key: Key) -> None:
        """OSError if the handshake fails, ssl.SSLEOFError if the other end closes."""
        self._plain = plain
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = key.context.wrap_bio(self._incoming, self._outgoing, server_hostname=key.name)
        self._lock = threading.Lock()  # of the three above
        self._sending = threading.Lock()
        self._shake_hands()

    def _shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
                self._plain.sendall(self._outgoing.read())
                return
            except ssl.SSLWantReadError:
                self._plain.sendall(self._outgoing.read())
            data = self._plain.recv(1 << 16)
            if not data:
                raise ssl.SSLEOFError(ssl.SSL_ERROR_EOF, "the connection was closed")
            self._incoming.write(data)

    @property
    def mark(self) -> str:
        """That of the other end's certificate."""
        return hashlib.sha256(self._tls.getpeercert(binary_form=True) or b"").hexdigest()

    def recv(self, most: int) -> bytes:
        """Empty at the end."""
        while True:
            with self._lock:
                try:
                    return self._tls.read(most)
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLZeroReturnError:
                    return b""
            data = self._plain.recv(1 << 16)
            if not data:
                return b""
            with self._lock:
                self._incoming.write(data)

    def sendall(self, data: bytes) -> None:
        with self._sending:
            with self._lock:
                self._tls.write(data)
                sealed = self._outgoing.read()
            self._plain.sendall(sealed)

    def settimeout(self, seconds: float | None) -> None:
        self._plain.settimeout(seconds)

    def hang_up(self) -> None:
        """Both ends learn that it is over."""
        with contextlib.suppress(OSError):
            self._plain.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._plain.close()


def connect(addresses: list[tuple[str, int]], key: Key, limit: float) -> Stream:
    """A connection to the first orchestrator that is reached. JoinError where it is another."""
    deadline = time.monotonic() + limit
    pause, trouble = FIRST_PAUSE, ""
    while True:
        for host, port in addresses:
            try:
                plain = socket.create_connection((host, port), timeout=15)
            except OSError as error:
                trouble = f"{host}:{port}: {error.strerror or error}"
                continue
            try:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                stream = Stream(plain, key)
            except ssl.SSLEOFError:
                plain.close()
                trouble = f"{host}:{port} closed the connection during the handshake"
                continue
            except ssl.SSLError as error:
                plain.close()
                raise JoinError(f"TLS with {host}:{port} failed: {said_of(error)}") from None
            except OSError as error:
                plain.close()
                trouble = f"{host}:{port}: {error.strerror or error}"
                continue
            if (shown := stream.mark) == key.door:
                return stream
            stream.close()
            raise JoinError(
                f"{host}:{port} is not the orchestrator of this job: its certificate has the mark "
                f"{shown[:16]}..., the key says {key.door[:16]}..."
            )
        if time.monotonic() > deadline:
            raise JoinError(
                f"the job's orchestrator is not reached: {trouble}\n"
                "  Does it still run (`isthmus jobs`, where the job was submitted)? Can this host "
                "connect to that address?"
            )
        time.sleep(pause * random.uniform(0.5, 1.5))  # parts that were turned away come apart
        pause = min(2 * pause, CONNECT_PAUSE)


def read_line(stream: Stream) -> dict[str, Any]:
    """One message; JoinError when the orchestrator is gone, or speaks of other things."""
    line = b""
    while not line.endswith(b"\n"):
        try:
            piece = stream.recv(1)  # what follows `go` is the agent's
        except ssl.SSLError as error:
            raise JoinError(
                f"the job's orchestrator does not take this key: TLS: {said_of(error)}\n"
                "  Each job has keys of its own, and each of its clusters has one."
            ) from None
        except OSError as error:
            raise JoinError(GONE + f": {error}" + LOOK) from None
        if not piece:
            raise JoinError(GONE + LOOK)
        line += piece
        if len(line) > MAX_LINE:
            break
    try:
        message = json.loads(line.decode())
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise JoinError(
            "the job's orchestrator sent something that is not a message; is it the same version?"
        )
    return message


def say_to(stream: Stream, **message: Any) -> None:
    stream.sendall(json.dumps(message).encode() + b"\n")
