"""One agent as the launcher sees it: a process that speaks docs/control.md over its pipes."""

import asyncio
import contextlib
import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.base import anyjson, childwatching, terminal
from isthmus.base.errors import PlacedError, RunError
from isthmus.grid.reach import Entry
from isthmus.grid.sshlinks import Forwarding
from isthmus.run import troubles
from isthmus.run.answers import ANSWERS
from isthmus.run.command import try_reach

if TYPE_CHECKING:
    from isthmus.run.arrival import Arrival

MAX_LINE = 1 << 20
MAX_PAYLOAD = 8 << 20
_KEPT_LINES = 40
_KEPT_WIDTH = 1000
# For agents on this host: the terminal's signals are for the launcher, so agents have a process
# group of their own. But they have no session of their own: kernels share cores among sessions
# (sched_autogroup), and a rank yields only to ranks of its own session. Four ranks of two sessions
# on two cores wait for each other for whole time slices.
_OWN_GROUP: dict[str, Any] = (
    {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}
)

Message = dict[str, Any]
Handler = Callable[["Agent", Message, bytes], Awaitable[None]]
OnLost = Callable[["Agent", str], None]
Summon = Callable[[], Awaitable["Arrival"]]


class ProtocolError(Exception):
    """The agent's output breaks the protocol; the text says how."""


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Reports the end of the process itself. `Process.wait` also waits for its pipes, which
    children may hold."""

    def __init__(self) -> None:
        super().__init__(limit=MAX_LINE, loop=asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class Agent:
    """`label` names the agent in sentences ("cluster east on login1"). `on_message` gets every
    message that does not answer a request. The agent is not read further before it returns, so it
    may hold back a flood of output. `on_lost` is called once, with a reason, when the agent ends
    unasked or breaks the protocol."""

    def __init__(
        self,
        label: str,
        command: Sequence[str],
        *,
        target: str | None,
        show: Callable[[str], None] | None = None,
        summon: "Summon | None" = None,
    ) -> None:
        """`target` is where ssh goes; None: this host. `show` gets each line that the agent writes
        on its standard error. If there is `summon`, the agent dials in, and a command is not
        needed."""
        self.label = label
        self.command = list(command)
        self.target = target
        self.host = ""
        self.pid = 0  # there
        self.memory = ""  # equal where processes can share memory
        self.greeting: list[str] = []  # lines before hello: what a remote shell prints by itself
        self.said_hello = False
        self.told = False  # a request has reported the agent's end
        self.forwarding = Forwarding()
        self._show = show
        self._stderr: deque[str] = deque(maxlen=_KEPT_LINES)
        self._summon = summon
        self._arrival: Arrival | None = None
        self._process: asyncio.subprocess.Process | Arrival | None = None
        self._refused: RunError | None = None
        self._transport: asyncio.BaseTransport | None = None
        self._exited = asyncio.Event()
        self._busy = 0  # counts what is read; odd while a message is handled
        self._tasks: list[asyncio.Task[None]] = []
        self._waiting: tuple[str, asyncio.Future[Message]] | None = None
        self._on_message: Handler | None = None
        self._on_lost: OnLost | None = None
        self._ending = False
        self._lost: str | None = None

    async def launch(self) -> None:
        """Starts the process. `start` reports an error."""
        try:
            await (self._let_it_come(self._summon) if self._summon else self._start_process())
        except RunError as error:
            self._refused = error

    async def start(self, on_message: Handler, on_lost: OnLost) -> None:
        """Listens to the process, which is started if it has not been launched. RunError when there
        is no such program."""
        self._on_message, self._on_lost = on_message, on_lost
        self._listen_for("hello")
        if self._process is None and self._refused is None:
            await self.launch()
        if self._refused:
            raise self._refused
        reader = asyncio.create_task(self._read())
        self._tasks = [
            asyncio.create_task(self._keep_stderr()),
            reader,
            asyncio.create_task(self._notice_end(reader)),
        ]

    async def _let_it_come(self, summon: "Summon") -> None:
        try:
            arrival = await summon()
        except RunError as error:
            raise RunError(f"{self.label}: {error.sentence}", error.remedy) from None
        self._arrival = self._process = arrival
        self._exited, self._transport = arrival.exited, arrival.stdin.transport

    async def _start_process(self) -> None:
        childwatching.without_threads()
        terminal.settings()  # before ssh may ask for a password
        try:
            loop = asyncio.get_running_loop()
            own = {} if self.target else _OWN_GROUP
            transport, protocol = await loop.subprocess_exec(_Protocol, *self.command, **own)
        except OSError as error:
            trouble = troubles.cannot_start(self.command[0], error.strerror)
            raise RunError(f"{self.label}: {trouble.sentence}", trouble.remedy) from None
        self._transport = transport
        self._process = asyncio.subprocess.Process(transport, protocol, loop)
        self._exited = protocol.exited

    # -- to the agent ------------------------------------------------------------------------

    async def send(self, op: str, payload: bytes | None = None, /, **keys: Any) -> None:
        """Returns when the pipe has taken the message. The reader notices a pipe that is gone, so
        this raises no error. An agent that has not said hello is sent nothing: its setup may still
        run, which takes input for the end. It has to learn the news once it is up."""
        if self._process is None or self._process.stdin is None or not self.said_hello:
            return
        message: Message = {"op": op, **keys}
        if payload is not None:
            message["n"] = len(payload)
        line = anyjson.dumps(message) + b"\n"
        with contextlib.suppress(OSError, RuntimeError):
            self._process.stdin.write(line + (payload or b""))
            await self._process.stdin.drain()

    async def hello(self, limit: float) -> Message:
        """Waits for the agent's first message. RunError as for `request`."""
        return await self._answer(limit)

    async def request(self, op: str, answer: str, limit: float, /, **keys: Any) -> Message:
        """Sends and waits for the answer. RunError with the agent's words if the answer is `error`,
        or if nothing comes within `limit` seconds, or if the agent is gone or ended."""
        self._listen_for(answer)
        await self.send(op, **keys)
        return await self._answer(limit)

    def _listen_for(self, op: str) -> None:
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda f: f.cancelled() or f.exception())  # perhaps nobody waits
        self._waiting = (op, future)

    async def _answer(self, limit: float) -> Message:
        assert self._waiting
        op, future = self._waiting
        if self._lost is not None:
            raise RunError(self._lost)
        if self._ending:
            raise RunError(self._ended_by_us())
        try:
            return await asyncio.wait_for(future, limit)
        except asyncio.TimeoutError:
            raise RunError(*self._silent(op, limit)) from None
        finally:
            self._waiting = None

    def _silent(self, op: str, limit: float) -> tuple[str, str]:
        """The sentence and the remedy for an answer that does not come."""
        if op != "hello":
            what = ANSWERS[op]
            return f"{self.label}: the agent did not {what} within {limit:g} s{self._quote()}", ""
        sentence = f"{self.label}: the agent did not start within {limit:g} s{self._quote()}"
        remedy = f"{try_reach(self.target)} " if self.target else ""
        return sentence, f"{remedy}If it needs longer, set ISTHMUS_START_TIMEOUT (seconds)."

    # -- from the agent ----------------------------------------------------------------------

    async def _read(self) -> None:
        reason = None
        try:
            while True:
                message, payload = await self._next()
                self._busy += 1
                await self._dispatch(message, payload)
                self._busy += 1
        except asyncio.IncompleteReadError:
            pass
        except ProtocolError as error:
            reason = f"the agent broke the protocol: {error}"
        except Exception as error:  # of a handler: nobody would read on
            traceback.print_exc()
            reason = f"a message of the agent could not be handled: {error!r}"
        await self._gone(reason)

    async def _notice_end(self, reader: asyncio.Task[None]) -> None:
        """The process is gone, but its output does not end: one of its children holds the pipe."""
        await self._exited.wait()
        seen = -1
        while not reader.done() and (self._busy % 2 == 1 or self._busy != seen):
            seen = self._busy
            await asyncio.wait({reader}, timeout=1)
        if not reader.done():
            reader.cancel()
            await self._gone(None)

    async def _next(self) -> tuple[Message, bytes]:
        assert self._process
        assert self._process.stdout
        reader = self._process.stdout
        while True:
            try:
                line = await reader.readuntil(b"\n")
            except asyncio.LimitOverrunError:
                raise ProtocolError(f"a line of more than {MAX_LINE} bytes") from None
            if self.said_hello or line.startswith(b"{"):
                break
            if len(self.greeting) >= 200:
                raise ProtocolError(f"it began with {_shown(line)}")
            self.greeting.append(line.decode(errors="replace").rstrip()[:_KEPT_WIDTH])
        try:
            message = anyjson.loads(line)
        except (ValueError, RecursionError):
            raise ProtocolError(f"not JSON: {_shown(line)}") from None
        if not isinstance(message, dict) or not isinstance(message.get("op"), str):
            raise ProtocolError(f"a message without 'op': {_shown(line)}")
        count = message.get("n", 0)
        if type(count) is not int or not 0 <= count <= MAX_PAYLOAD:
            raise ProtocolError(f"'{message['op']}' announces {count!r} bytes")
        payload = await reader.readexactly(count) if count else b""
        return message, payload

    async def _dispatch(self, message: Message, payload: bytes) -> None:
        op = message["op"]
        if op == "hello":
            self.said_hello = True
            pid = message.get("pid")
            self.pid = pid if type(pid) is int else 0
        waiting = self._waiting
        if waiting and not waiting[1].done():
            if op == waiting[0]:
                waiting[1].set_result({**message, "payload": payload} if payload else message)
                return
            if op == "error":
                waiting[1].set_exception(_failure(self.label, message))
                return
        assert self._on_message
        await self._on_message(self, message, payload)

    async def _gone(self, reason: str | None) -> None:
        """`reason` is None if its output ended."""
        assert self._process
        assert self._on_lost
        if not self._ending:
            remedy = ""
            if reason is None:
                if await self._ended(2):
                    await asyncio.wait({self._tasks[0]}, timeout=1)
                reason, remedy = self._why_ended(self._process.returncode)
            self._lost = f"{self.label}: {reason}{self._quote()}"
            self._lost += f"\n  {remedy}" if remedy else ""
            if self._waiting and not self._waiting[1].done():
                self._waiting[1].set_exception(RunError(self._lost))
                self.told = True
            self._on_lost(self, self._lost)

    def _why_ended(self, status: int | None) -> tuple[str, str]:
        """The reason, and a remedy if it exists."""
        if self._arrival:
            return "the connection was lost", ""
        if status is None:
            return "the agent closed its output", ""
        if not self.said_hello:
            setup = troubles.end_of_setup(self._stderr)  # the line is not quoted below
            if trouble := troubles.before_hello(self.target, status, setup, self._stderr):
                return trouble.sentence, trouble.remedy
        return troubles.how_agent_ended(self.target, status, said_hello=self.said_hello), ""

    def _quote(self) -> str:
        """The last lines that the agent or ssh printed, to be shown below the sentence."""
        said = [*self.greeting[:3], *self._stderr] if not self.said_hello else [*self._stderr]
        return "".join(f"\n  | {line}" for line in said[-10:])

    async def _keep_stderr(self) -> None:
        assert self._process
        assert self._process.stderr
        rest = b""
        while chunk := await self._process.stderr.read(4096):
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-_KEPT_WIDTH:]
            texts = [line[:_KEPT_WIDTH].decode(errors="replace").rstrip() for line in lines if line]
            if self.target:
                texts = [text for text in texts if not self.forwarding.takes(text)]
            self._stderr.extend(texts)
            if self._show:
                for text in texts:
                    self._show(text)
        if rest:
            self._stderr.append(rest.decode(errors="replace"))

    # -- the end -----------------------------------------------------------------------------

    def _begin_end(self) -> None:
        """No request gets an answer from now on."""
        self._ending = True
        if self._waiting and not self._waiting[1].done():
            self._waiting[1].set_exception(RunError(self._ended_by_us()))

    def _ended_by_us(self) -> str:
        return f"{self.label}: the agent has been ended"

    def let_go(self) -> None:
        """Closes the agent's standard input without a word. In a run that survives, the agent takes
        this launcher for lost, and goes on without it."""
        self._begin_end()
        if self._process and self._process.stdin:
            self._process.stdin.close()

    def hang_up(self) -> None:
        """Closes the agent's standard input: it then ends everything it started, and itself. Input
        that it has not read is dropped."""
        self._begin_end()
        if self._process and self._process.stdin:
            pipe = self._process.stdin.transport
            if not pipe.is_closing() and not pipe.get_write_buffer_size():
                # Else it might take this launcher for lost, and go on without it.
                pipe.write(anyjson.dumps({"op": "end"}) + b"\n")
            if not pipe.is_closing() or pipe.get_write_buffer_size():
                pipe.abort()

    async def order(self, op: str, **keys: Any) -> bool:
        """Sends a message that ends ranks. An agent may be held up by standard input which its
        ranks do not read. It would not hear the message: it is hung up on, and False returned."""
        try:
            await asyncio.wait_for(self.send(op, **keys), 1)
        except asyncio.TimeoutError:
            self.hang_up()
            return False
        return True

    async def close(self, patience: float) -> None:
        """Ends the agent, politely first, and waits until its process is gone."""
        if self._process is None:
            return
        alive = self._process.returncode is None
        self._begin_end()
        if alive and self.said_hello:
            await self.order("end")
        if self._process.stdin:
            self._process.stdin.close()
        if not self.said_hello or self._lost is not None:  # it may not be listening
            self._signal(signal.SIGTERM)
        for last in (signal.SIGTERM, signal.SIGKILL):
            if await self._ended(patience):
                break
            self.hang_up()
            self._signal(last)
            patience = 2
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        assert self._transport
        self._transport.close()  # also pipes that children of the agent hold
        if await self._ended(patience):
            await self._process.wait()

    async def _ended(self, limit: float) -> bool:
        """Whether the process itself ends within `limit` seconds."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._exited.wait(), limit)
        return self._exited.is_set()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process
        if self._process.returncode is not None:
            return
        if self.target and not isinstance(self.target, Entry):
            number = signal.SIGKILL  # ssh ignores the others (command.shielded)
        with contextlib.suppress(ProcessLookupError):
            mine = not (self.target or self._arrival)
            if not mine or (self.said_hello and number != signal.SIGKILL):
                self._process.send_signal(number)
                if self.target and not self.said_hello:
                    terminal.restore()  # it may have asked for a password
            else:  # processes that a setup or the agent could not end
                os.killpg(self._process.pid, number)


def _failure(label: str, message: Message) -> RunError:
    said = str(message.get("message") or "the agent gave no reason")
    name = label.removeprefix("cluster ").partition(" on ")[0]
    return PlacedError(
        label, said.replace(f" (cluster {name})", ""), str(message.get("remedy") or "")
    )


def _shown(line: bytes) -> str:
    return repr(line[:60].decode(errors="replace").rstrip())
