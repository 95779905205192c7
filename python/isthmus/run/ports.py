"""Ports where two sides meet, and the names under which they are published.

The launcher keeps them: it outlives every process of the program, and every agent can ask it."""

from collections import deque
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from isthmus.run import portname
from isthmus.run.agent import Message

# More than a program has open at a time, and few enough for the launcher's memory.
MOST_PORTS = 65536

Answer = Callable[[Message], None]


@dataclass(frozen=True)
class Caller:
    """A root that waits at a port. `context` is what it offers, where it accepts."""

    rank: int
    answer: Answer
    context: int = 0


@dataclass
class Port:
    opener: int
    once: bool = False
    expected: Sequence[range] = ()  # who is to connect, or fails before that
    in_vain: bool = False  # some of these have failed
    accepting: deque[Caller] = field(default_factory=deque)
    connecting: deque[Caller] = field(default_factory=deque)


class Ports:
    """Each question that is answered later gets one answer: when the other side has come, or when
    the port is closed."""

    def __init__(self, job: str) -> None:
        self.at = ""  # as PortName.at
        self._job = job
        self._ports: dict[str, Port] = {}
        self._names: dict[str, str] = {}
        self._opened = 0

    def open(self, opener: int, *, once: bool = False) -> Message:
        """Opens a port for a rank. `once`: the port closes when two sides have met there."""
        if len(self._ports) >= MOST_PORTS:
            return refusal(
                "other", f"too many ports are open ({MOST_PORTS}); close some with MPI_Close_port"
            )
        self._opened += 1
        name = str(portname.fresh(self._job, self._opened, self.at))
        self._ports[name] = Port(opener, once)
        return {"port": name}

    def expect(self, name: str, ranks: Sequence[range]) -> None:
        """These are to connect, all together: if one of them fails, none will."""
        if port := self._ports.get(name):
            port.expected = ranks

    def has(self, name: str) -> bool:
        return name in self._ports

    def opener(self, name: str) -> int | None:
        port = self._ports.get(name)
        return port.opener if port else None

    def close(self, name: str) -> Message:
        port = self._ports.pop(name, None)
        if port is None:
            return self._no_port(name)
        for caller in (*port.accepting, *port.connecting):
            said = f"the port {portname.shown(name)} has been closed meanwhile"
            caller.answer(refusal("port", said))
        return {}

    def accept(self, name: str, caller: Caller) -> None:
        if port := self._ports.get(name):
            port.accepting.append(caller)
            self._pair(name, port)
            self._end_in_vain(name, port)
        else:
            caller.answer(self._no_port(name))

    def connect(self, name: str, caller: Caller) -> None:
        if port := self._ports.get(name):
            port.connecting.append(caller)
            self._pair(name, port)
            self._end_in_vain(name, port)
        else:
            caller.answer(self._no_port(name))

    def forget(self, name: str, caller: Caller) -> None:
        """The caller no longer waits to connect."""
        port = self._ports.get(name)
        if port and caller in port.connecting:
            port.connecting.remove(caller)

    def withdraw(self, name: str, rank: int, context: int) -> Message:
        """A root gives up, and gets an answer if it still waits. `context` is what it offers. If it
        has opened the port for one meeting, those that are to come are refused, now or later."""
        port = self._ports.get(name)
        for queue in (port.accepting, port.connecting) if port else ():
            for caller in [one for one in queue if (one.rank, one.context) == (rank, context)]:
                queue.remove(caller)
                caller.answer(refusal("other", "the call has been given up"))
        if port and port.once and port.opener == rank:
            self.close(name)
        return {}

    def lose(self, ranks: Container[int]) -> None:
        """These ranks have failed: they wait no longer, and their ports are closed."""
        for name, port in list(self._ports.items()):
            for queue in (port.accepting, port.connecting):
                living = [caller for caller in queue if caller.rank not in ranks]
                queue.clear()
                queue.extend(living)
            if port.opener in ranks:
                self.close(name)
            elif any(rank in ranks for part in port.expected for rank in part):
                port.in_vain = True
                self._end_in_vain(name, port)

    def publish(self, service: str, port: str) -> Message:
        if service in self._names:
            said = f"the name '{service}' is published already; MPI_Unpublish_name frees it"
            return refusal("service", said)
        if len(self._names) >= MOST_PORTS:
            return refusal("other", f"too many names are published ({MOST_PORTS})")
        self._names[service] = port
        return {}

    def unpublish(self, service: str, port: str) -> Message:
        if self._names.get(service) != port:
            return refusal("service", f"the name '{service}' is not published for that port")
        del self._names[service]
        return {}

    def lookup(self, service: str) -> Message:
        if port := self._names.get(service):
            return {"port": port}
        return refusal("name", f"the name '{service}' is not published in this run")

    def _pair(self, name: str, port: Port) -> None:
        while port.accepting and port.connecting and not port.in_vain:
            if port.once:
                del self._ports[name]
            server, client = port.accepting.popleft(), port.connecting.popleft()
            server.answer({"peer": client.rank, "context": server.context})
            client.answer({"peer": server.rank, "context": server.context})

    def _end_in_vain(self, name: str, port: Port) -> None:
        """Nobody meets at it. It stays until the opener has come, who is to hear why."""
        if not port.in_vain:
            return
        if port.accepting:
            self._ports.pop(name, None)
        for caller in (*port.accepting, *port.connecting):
            caller.answer(refusal("spawn", "the new processes have failed before they connected"))
        port.accepting.clear()
        port.connecting.clear()

    def _no_port(self, name: str) -> Message:
        port = portname.parse(name)
        if port and port.job != self._job:
            return refusal("port", f"the port {port.shown} belongs to another run")
        return refusal("port", f"the port {portname.shown(name)} is not open")


def refusal(error: str, sentence: str) -> Message:
    """`error` is the class of docs/control.md, "What ranks ask"."""
    return {"error": error, "message": sentence}
