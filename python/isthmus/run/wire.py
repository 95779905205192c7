"""The line between the launchers of two runs: questions and answers both ways, each a line of JSON
(docs/control.md, "What launchers say to each other")."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from isthmus.base.errors import RunError
from isthmus.run.agent import Message

# The clusters of a world fit, however many have been spawned.
MOST_LINE = 1 << 20
# Unanswered questions of the other end; a rank waits for each.
MOST_WAITING = 65536

Serve = Callable[[Message], Awaitable[Message]]


class RefusedError(RunError):
    """The other run refuses; `error` is the class of docs/control.md, "What ranks ask"."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error


class Wire:
    """One connection, from `start` until it ends; then `over` is called once."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        serve: Serve,
        over: Callable[[], None],
    ) -> None:
        """`serve` answers the questions of the other end, or raises RefusedError."""
        self._reader = reader
        self._writer = writer
        self._serve = serve
        self._over = over
        self._asked = 0
        self._answers: dict[int, asyncio.Future[Message]] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[None] | None = None
        self.closed = False

    def start(self) -> None:
        self._reading = asyncio.create_task(self._read())

    async def ask(self, what: str, **keys: Any) -> Message:
        """RefusedError if the answer is an error, RunError if the other end is gone."""
        if self.closed:
            raise RunError("the other run has ended")
        self._asked += 1
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._answers[self._asked] = answer
        await self._send({"do": what, "id": self._asked, **keys})
        said = await answer
        if error := said.get("error"):
            raise RefusedError(str(error), str(said.get("message") or "no reason was given"))
        return said

    def close(self) -> None:
        self._writer.transport.abort()

    async def _send(self, message: Message) -> None:
        with contextlib.suppress(OSError):  # then the reader ends, too
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await self._writer.drain()

    async def _read(self) -> None:
        try:
            with contextlib.suppress(OSError, ValueError):
                while line := await self._reader.readline():
                    message = json.loads(line)
                    if not isinstance(message, dict) or not self._hear(message):
                        break
        finally:
            self.closed = True
            self._writer.close()
            for task in self._serving:
                task.cancel()
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(RunError("the other run has ended"))
                    answer.exception()  # perhaps nobody waits
            self._over()

    def _hear(self, message: Message) -> bool:
        """Returns False if the message is malformed."""
        if (number := message.get("re")) is not None:
            answer = self._answers.pop(number, None) if isinstance(number, int) else None
            if answer and not answer.done():
                answer.set_result(message)
            return True
        if not isinstance(message.get("do"), str) or len(self._serving) >= MOST_WAITING:
            return False
        task = asyncio.create_task(self._answer(message))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return True

    async def _answer(self, message: Message) -> None:
        answer: Message = {
            "error": "other",
            "message": "the other run could not carry out the request",
        }
        try:
            answer = await self._serve(message)
        except RefusedError as refused:
            answer = {"error": refused.error, "message": refused.sentence}
        except RunError as error:
            answer = {"error": "other", "message": error.sentence}
        finally:
            await self._send({"re": message.get("id"), **answer})
