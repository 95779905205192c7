"""A run's dealings with other runs: ranks that connect to their ports or look up their names, and
launchers that come to meet."""

import asyncio

from isthmus.base.errors import IsthmusError
from isthmus.base.limits import Limits
from isthmus.base.relay import Voice
from isthmus.meeting import finding
from isthmus.meeting.door import Door
from isthmus.meeting.meetings import Meetings
from isthmus.meeting.ways import OwnWays
from isthmus.run.agent import Message
from isthmus.run.growing import Growing
from isthmus.run.members import Members
from isthmus.run.portname import PortName
from isthmus.run.ports import Answer, Ports, refusal
from isthmus.run.wire import RefusedError


class Abroad:
    """For one run. It meets nobody before `open`, and nobody new after `part`."""

    def __init__(
        self, job: str, members: Members, ports: Ports, limits: Limits, voice: Voice
    ) -> None:
        self._job = job
        self._members = members
        self._ports = ports
        self._limits = limits
        self._voice = voice
        self._meetings: Meetings | None = None
        self._door: Door | None = None

    async def open(self, growing: Growing, guests_at: tuple[str, int] | None) -> OwnWays:
        """Call this once the run is up. RunError if guests cannot come to `guests_at`."""
        host, port = guests_at or ("", 0)
        ways = OwnWays(growing, self._members, self._limits, host)
        if host:
            self._door = Door(self.welcome, self._voice)
            if relay := await ways.at(host, port):
                self._ports.at = await self._door.open_at(relay)
                host = ""
            else:
                self._ports.at = await self._door.open(host, port)
        self._meetings = Meetings(growing, self._members, self._ports, self._limits, ways, host)
        return ways

    def connect(self, port: PortName, rank: int, limit: float | None, answer: Answer) -> None:
        """Connects to a port of another run, which has `limit` seconds to accept."""

        async def connect() -> None:
            assert self._meetings
            try:
                answer(await self._meetings.connect(port, rank, limit))
            except RefusedError as refused:
                answer(refusal(refused.error, refused.sentence))
            except IsthmusError as error:
                answer(refusal("port", str(error)))

        self._members.later(connect())

    def look_up(self, service: str, limit: float, answer: Answer) -> None:
        """Looks up a name that is not published in this run, within `limit` seconds."""

        async def look() -> None:
            answer(await finding.waited_for(service, self._job, limit, self._ports))

        self._members.later(look())

    async def welcome(
        self, said: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """The connection of another run's launcher, and what it said first. As in Meetings."""
        if self._meetings:
            return await self._meetings.welcome(said, reader, writer)
        writer.close()
        return False

    def lost(self, run: str) -> None:
        """A gateway has heard nothing more from that run."""
        if self._meetings:
            self._meetings.lost(run)

    def part(self) -> None:
        if self._meetings:
            self._meetings.close()

    def close(self) -> None:
        if self._door:
            self._door.close()
        self.part()
