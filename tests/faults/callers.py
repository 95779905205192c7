"""A gateway's side of a service (docs/protocol.md), without a gateway."""

import hashlib
import hmac
import os
import re
import socket
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path

AWAIT, CALL, TAKE = 1, 2, 3


def ask(port: int, key: Path, job: str, what: int, node: int = 0, number: int = 0) -> socket.socket:
    """A connection on which the service has granted the request."""
    said = dict(re.findall(r'^(\w+) = "(\w\S*)"$', key.read_text(), re.M))
    text = f"isthmus/1 service {job}".encode()
    secret = hmac.new(bytes.fromhex(said["secret"]), text, hashlib.sha256).digest()
    name = f"{said['id']}/{job}".encode()
    mine = os.urandom(32)
    end = socket.create_connection(("127.0.0.1", port), timeout=60)
    end.sendall(b"ISTHMUS\n\x01" + bytes([len(name)]) + name + mine)
    theirs = heard(end, 33)[1:]

    def proof(role: bytes) -> bytes:
        of = b"isthmus/1 " + role + b"\0" + bytes([len(name)]) + name + mine + theirs
        return hmac.new(secret, of, hashlib.sha256).digest()

    end.sendall(proof(b"client"))
    assert heard(end, 33) == b"\0" + proof(b"server")
    end.sendall(struct.pack("<BxxxIQ", what, node, number))
    verdict, size = heard(end, 2)
    assert verdict == 0, heard(end, size)
    return end


def heard(end: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = end.recv(size - len(data))
        assert piece, "the service has closed the connection"
        data += piece
    return data


def pairs(port: int, key: Path, job: str, count: int) -> list[tuple[socket.socket, socket.socket]]:
    """Connections that the service has joined."""
    waiting = ask(port, key, job, AWAIT, node=1)
    made = []
    for _ in range(count):
        calls: list[socket.socket] = []
        calling = threading.Thread(target=lambda to=calls: to.append(ask(port, key, job, CALL, 1)))
        calling.start()
        number = 0
        while not number:
            (number,) = struct.unpack("<Q", heard(waiting, 8))
        taken = ask(port, key, job, TAKE, number=number)
        calling.join(60)
        made.append((calls[0], taken))
    made.append((waiting, waiting))
    return made


class Flood:
    """Sends as much as passes over all pairs, until it is stopped."""

    def __init__(self, ends: list[tuple[socket.socket, socket.socket]]) -> None:
        self.received = 0
        self._ends = ends
        self._going = True
        self._threads = [
            threading.Thread(target=work, args=(end,))
            for source, target in ends
            if source is not target
            for work, end in ((self._send, source), (self._receive, target))
        ]
        for thread in self._threads:
            thread.start()

    def _send(self, end: socket.socket) -> None:
        data = bytes(65536)
        with suppress(OSError):
            while self._going:
                end.sendall(data)

    def _receive(self, end: socket.socket) -> None:
        with suppress(OSError):
            while piece := end.recv(65536):
                self.received += len(piece)

    def stop(self) -> None:
        self._going = False
        for ends in self._ends:
            for end in ends:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
        for thread in self._threads:
            thread.join(60)


def during(seconds: float, floods: list[Flood]) -> list[int]:
    """The bytes that each receives in that time."""
    before = [flood.received for flood in floods]
    time.sleep(seconds)
    return [flood.received - was for flood, was in zip(floods, before, strict=True)]
