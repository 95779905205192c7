"""Strangers at a port: connections that prove nothing, as many at a time as one likes."""

import contextlib
import resource
import select
import socket
import threading
import time
from types import TracebackType

_FILES = 6000  # that this process may open


class Strangers:
    """Within `with`: `count` connections at a time to each port, from `addresses` addresses. Each
    says `first` and then nothing. One that the other end closes is replaced."""

    def __init__(self, *ports: int, count: int, addresses: int = 1, first: bytes = b"") -> None:
        self._ports = ports
        self._count = count
        self._addresses = addresses
        self._first = first
        self._held: list[socket.socket] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._hold)
        self.made = 0

    def __enter__(self) -> "Strangers":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < _FILES:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, hard), hard))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _hold(self) -> None:
        while not self._over.is_set():
            self._drop_closed()
            for _ in range(50):
                if len(self._held) >= self._count * len(self._ports):
                    break
                self._knock()
            time.sleep(0.01)
        for stranger in self._held:
            stranger.close()

    def _knock(self) -> None:
        stranger = socket.socket()
        port = self._ports[self.made % len(self._ports)]
        self.made += 1
        try:
            stranger.bind((f"127.0.0.{2 + self.made % self._addresses}", 0))
            stranger.connect(("127.0.0.1", port))
            stranger.sendall(self._first)
            stranger.setblocking(False)
            self._held.append(stranger)
        except OSError:  # nobody listens there yet, or it has closed at once
            stranger.close()

    def _drop_closed(self) -> None:
        poll = select.poll()
        for stranger in self._held:
            poll.register(stranger, select.POLLIN)
        heard = {number for number, _ in poll.poll(0)}
        kept = []
        for stranger in self._held:
            if stranger.fileno() in heard:
                with contextlib.suppress(OSError):
                    if stranger.recv(100):
                        kept.append(stranger)
                        continue
                stranger.close()
            else:
                kept.append(stranger)
        self._held = kept
