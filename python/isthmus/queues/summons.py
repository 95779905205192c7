"""Agents that parts start when they are asked to (docs/control.md, "Dialling in")."""

import asyncio
from typing import Any

from isthmus.base.errors import RunError
from isthmus.run.arrival import Arrival, Message

_LIMIT = 120.0  # seconds until an agent has dialled in


class Summons:
    """For one job. An agent that comes unasked, or twice, is refused."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, int], asyncio.Future[Arrival]] = {}
        self._last = 0

    async def agent(self, cluster: str, control: Arrival) -> Arrival:
        """Asks a part by its connection. RunError if no agent comes."""
        self._last += 1
        number = self._last
        come: asyncio.Future[Arrival] = asyncio.get_running_loop().create_future()
        self._asked[cluster, number] = come
        gone = asyncio.create_task(control.exited.wait())
        first: set[asyncio.Future[Any]] = {come, gone}
        try:
            await control.tell(op="agent", number=number)
            await asyncio.wait(first, timeout=_LIMIT, return_when=asyncio.FIRST_COMPLETED)
            if come.done():
                return come.result()
            why = "has ended" if gone.done() else f"started no agent within {_LIMIT:g} s"
            raise RunError(f"its batch job {why}")
        finally:
            gone.cancel()
            del self._asked[cluster, number]

    def comes(self, cluster: str, said: Message, arrival: Arrival) -> bool:
        """Whether this is an agent that was asked for."""
        come = self._asked.get((cluster, _number(said)))
        if come is None or come.done():
            return False
        come.set_result(arrival)
        return True

    def fails(self, cluster: str, said: Message) -> None:
        """The part could not start an agent."""
        come = self._asked.get((cluster, _number(said)))
        if come and not come.done():
            come.set_exception(RunError(str(said.get("message") or "its batch job gave no reason")))


def _number(said: Message) -> int:
    number = said.get("number")
    return number if isinstance(number, int) else 0
