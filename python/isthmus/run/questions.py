"""Questions of ranks to the launcher while they run (docs/control.md, "What ranks ask")."""

from collections.abc import Callable
from typing import Protocol

from isthmus.run import portname
from isthmus.run.agent import Agent, Message
from isthmus.run.portname import PortName
from isthmus.run.ports import Answer, Caller, Ports, refusal

Reply = Callable[[Agent, int, int, Message], None]
Spawn = Callable[[int, object, str, Callable[[str], None]], None]
Told = Callable[[int, Message], Message]


class Abroad(Protocol):
    """Other runs (meeting/abroad.py)."""

    def connect(self, port: PortName, rank: int, limit: float | None, answer: Answer) -> None:
        """The rank connects to a port of another run, and waits for at most `limit` seconds."""

    def look_up(self, service: str, limit: float, answer: Answer) -> None:
        """Looks up a name that nobody here has published; `limit` is the seconds to wait."""


class Questions:
    """Gives one answer each time that a question is asked. A rank that has lost a gateway asks
    again by another, but the question is carried out only once."""

    def __init__(
        self,
        job: str,
        ports: Ports,
        abroad: Abroad,
        reply: Reply,
        spawn: Spawn,
        told: Told,
    ) -> None:
        """`reply` gets an agent, a rank, the number of its question, and the answer. `spawn` gets a
        rank, the commands to start, the port where they are to connect, and a callback. The
        callback gets the reason if they cannot start, else an empty string. `told` gets a rank and
        a piece of its profile, and returns the answer."""
        self._job = job
        self._ports = ports
        self._abroad = abroad
        self._spawn = spawn
        self._told = told
        self._reply = reply
        self._asked: dict[tuple[int, int], Agent] = {}  # unanswered, and who asked
        self._last: dict[int, tuple[int, Message]] = {}  # the last answer to each rank

    def hear(self, agent: Agent, message: Message) -> None:
        rank, number = message.get("rank"), message.get("number")
        request = message.get("request")
        if type(rank) is not int or type(number) is not int or not isinstance(request, dict):
            return  # the agent talks nonsense; there is nobody to answer
        again = (rank, number) in self._asked
        self._asked[rank, number] = agent
        if again:
            return
        answered = self._last.get(rank)
        if answered and answered[0] == number:
            self._answer(rank, number, answered[1])
            return
        self._do(rank, request, lambda answer: self._answer(rank, number, answer))

    def _answer(self, rank: int, number: int, answer: Message) -> None:
        agent = self._asked.pop((rank, number))
        self._last[rank] = number, answer
        self._reply(agent, rank, number, answer)

    def _do(self, rank: int, request: Message, answer: Answer) -> None:
        def text(key: str) -> str:
            value = request.get(key)
            return value if isinstance(value, str) else ""

        said = request.get("limit")
        limit = float(said) if isinstance(said, int | float) else None
        context = request.get("context")
        caller = Caller(rank, answer, context if type(context) is int else 0)
        match request.get("do"):
            case "open":
                answer(self._ports.open(rank))
            case "close":
                answer(self._ports.close(text("port")))
            case "accept":
                self._ports.accept(text("port"), caller)
            case "connect":
                port = portname.parse(text("port"))
                if port and port.job != self._job:
                    self._abroad.connect(port, rank, limit, answer)
                else:
                    self._ports.connect(text("port"), caller)
            case "withdraw":
                answer(self._ports.withdraw(text("port"), rank, caller.context))
            case "publish":
                answer(self._ports.publish(text("service"), text("port")))
            case "unpublish":
                answer(self._ports.unpublish(text("service"), text("port")))
            case "lookup":
                found = self._ports.lookup(text("service"))
                if "port" in found:
                    answer(found)
                else:
                    self._abroad.look_up(text("service"), limit or 0, answer)
            case "spawn":
                self._start(rank, request, answer)
            case "profile":
                answer(self._told(rank, request))
            case what:
                answer(refusal("other", f"the launcher does not know the request '{what}'"))

    def _start(self, rank: int, request: Message, answer: Answer) -> None:
        opened = self._ports.open(rank, once=True)
        if "port" not in opened:
            answer(opened)
            return
        port = opened["port"]

        def done(why: str) -> None:
            if why:
                self._ports.close(port)
            answer(refusal("spawn", why) if why else {"port": port})

        self._spawn(rank, request.get("commands"), port, done)
