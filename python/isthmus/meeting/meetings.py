"""Other runs that this one meets. The run whose rank connects finds the launcher of the run that
has the port. Both then make processes of the other guests in their own world."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field

from isthmus.base.errors import RunError
from isthmus.base.limits import Limits
from isthmus.meeting import finding, ways
from isthmus.meeting.dialling import pauses
from isthmus.meeting.guests import Guests
from isthmus.meeting.ways import OwnWays
from isthmus.pages import page
from isthmus.run.agent import Message
from isthmus.run.growing import Growing
from isthmus.run.members import Members
from isthmus.run.portname import PortName, shown
from isthmus.run.ports import Caller, Ports
from isthmus.run.wire import RefusedError, Wire
from isthmus.version import VERSION, WIRE, build_text

# Every process keeps what it knows of each run, even after it has left; numbers are never reused.
MOST_RUNS = 256
PATIENCE = 180.0  # seconds that a side waits for another run to accept, as in MPICH
# The last messages of a run arrive before it counts as gone.
_GRACE = 1.0
_GREETING = 10.0
_LEAST = 5.0  # seconds that a run is looked for, whatever the time that is left


def _no_relay() -> str:
    return f"neither grid file has a [[relay]] where both could meet ({page('joining.md')})"


@dataclass
class _Other:
    """Another run, as far as it is met. `home` is the cluster here with the junctions to it."""

    run: str
    wire: Wire
    guests: Guests
    home: int | None = None
    joining: asyncio.Lock = field(default_factory=asyncio.Lock)


class Meetings:
    """For one run, once it is up."""

    def __init__(
        self,
        growing: Growing,
        members: Members,
        ports: Ports,
        limits: Limits,
        own_ways: OwnWays,
        host: str = "",
    ) -> None:
        """`host`: how other hosts reach this one, if they may."""
        self._host = host
        self._job = growing.plan.job
        self._growing = growing
        self._members = members
        self._ports = ports
        self._limits = limits
        self._ways = own_ways
        self._others: dict[str, _Other] = {}
        self._gone: set[str] = set()
        self._dialling: dict[str, asyncio.Lock] = {}
        self._news = asyncio.Event()
        self._closed = False

    # -- a rank here connects to a port of another run ---------------------------------------

    async def connect(self, port: PortName, rank: int, limit: float | None) -> Message:
        """The answer to the rank. RefusedError, or RunError with the reason."""
        home = self._growing.first_home(rank)
        clock = asyncio.get_running_loop().time
        within = PATIENCE if limit is None else limit
        deadline = clock() + within
        other = await self._meet(port, deadline)
        async with other.joining:
            if other.home is None:
                await self._join(other, port, home)
                other.home = home
            told = await other.wire.ask("know", clusters=self._growing.own())
            await other.guests.admit(told.get("clusters"), other.home)
        left = max(deadline - clock(), 0.0)
        said = await other.wire.ask("connect", port=str(port), node=rank, limit=left, within=within)
        # The accepting process may have been spawned meanwhile.
        await other.guests.admit(said.get("clusters"), other.home)
        peer = said.get("peer")
        if type(peer) is not int:
            raise RunError(f"the run {other.run} names no peer")
        return {"peer": other.guests.node(peer), "context": said.get("context")}

    async def _join(self, other: _Other, port: PortName, home: int) -> None:
        """Makes junctions from the cluster `home`. RunError says why none leads there."""
        here, own = len(other.guests.gateways(home)), await self._ways.find()
        made = await other.wire.ask("join", gateways=here, port=str(port), services=own.services)
        junctions = made.get("junctions")
        far = ways.read(made.get("services"), made.get("troubles"))
        by = own.services + far.services
        try:
            await other.guests.connect(home, junctions if isinstance(junctions, list) else [], by)
        except RunError as error:
            # The most important reason first: MPI libraries cut long error messages.
            why = [*own.troubles, *far.troubles, error.sentence]
            if len(why) == 1 and not by:
                why.insert(0, f"the run {other.run} cannot be dialled, and {_no_relay()}")
            raise RunError("; ".join(dict.fromkeys(why))) from None

    async def _meet(self, port: PortName, deadline: float) -> _Other:
        """The run that has the port: met already, or found by `deadline`."""
        async with self._dialling.setdefault(port.job, asyncio.Lock()):
            if other := self._others.get(port.job):
                return other
            self._check_new(port.job)
            greeting = {"ask": "meet", "version": VERSION, "wire": WIRE}
            greeting |= {"job": self._job, "port": str(port)}
            line = b""
            clock = asyncio.get_running_loop().time
            for pause in pauses():  # again where the door drops it, since too many others came
                reader, writer = await finding.launcher(port, max(deadline - clock(), _LEAST))
                writer.write(json.dumps(greeting).encode() + b"\n")
                try:
                    line = await asyncio.wait_for(reader.readline(), _GREETING)
                except (ValueError, asyncio.TimeoutError):
                    break
                except OSError:
                    pass
                if line or clock() + pause >= deadline:
                    break
                writer.close()
                await asyncio.sleep(pause)
            try:
                said = json.loads(line)
            except ValueError:
                writer.close()
                raise RefusedError(
                    "port",
                    f"the run {port.job}, whose port {port.shown} is, does not answer at "
                    f"{port.place or 'its socket on this host'}",
                ) from None
            if said.get("busy"):  # it is dialling this run itself
                writer.close()
                return await self._soon(port.job)
            if "error" in said:
                writer.close()
                raise RefusedError("port", str(said["error"]))
            return self._keep(port.job, reader, writer)

    def _check_new(self, run: str) -> None:
        if run in self._gone:
            raise RefusedError("port", f"the run {run} has ended")
        if len(self._others) + len(self._gone) >= MOST_RUNS:
            raise RefusedError(
                "port", f"this run has met {MOST_RUNS} other runs, which is the limit"
            )

    async def _soon(self, run: str) -> _Other:
        """Waits for a run that is about to come by itself."""

        async def come() -> _Other:
            while run not in self._others:
                self._news.clear()
                await self._news.wait()
            return self._others[run]

        try:
            return await asyncio.wait_for(come(), _GREETING)
        except asyncio.TimeoutError:
            raise RefusedError("port", f"the run {run} did not connect in time") from None

    def _keep(self, run: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> _Other:
        async def serve(message: Message) -> Message:
            return await self._answer(other, message)

        def over() -> None:
            self._members.later(self._part(other))

        guests = Guests(run, self._growing, self._members, self._limits, self._host)
        other = _Other(run, Wire(reader, writer, serve, over), guests)
        self._others[run] = other
        self._news.set()
        other.wire.start()
        return other

    # -- another run comes -------------------------------------------------------------------

    async def welcome(
        self, said: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Who has said `meet`. Returns whether the connection is kept: its other end knows a port.
        Otherwise it is closed, after the answer."""
        run, port = str(said.get("job")), str(said.get("port"))
        dialling = self._dialling.get(run)
        answer: Message = {"job": self._job}
        if said.get("wire") != WIRE:
            theirs = build_text(said.get("version"), None, said.get("wire"))
            answer = {
                "error": f"the run {self._job} has Isthmus {build_text(VERSION, None, WIRE)}, this "
                f"one has {theirs}: install the same version for both"
            }
        elif not self._ports.has(port):
            answer = {"error": f"the port {shown(port)} is not open"}
        elif run in self._others or (dialling and dialling.locked() and self._job < run):
            answer = {"busy": True}
        else:
            try:
                self._check_new(run)
            except RefusedError as refused:
                answer = {"error": refused.sentence}
        if "job" in answer:
            # The answer goes first; nothing is awaited in between.
            writer.write(json.dumps(answer).encode() + b"\n")
            self._keep(run, reader, writer)
            return True
        with contextlib.suppress(OSError):
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()
        return False

    async def _answer(self, other: _Other, message: Message) -> Message:
        port = str(message.get("port"))
        match message.get("do"):
            case "join":
                opener = self._ports.opener(port)
                if opener is None:
                    raise RefusedError("port", f"the port {shown(port)} is not open")
                count = message.get("gateways")
                home = self._growing.first_home(opener)
                own, far = await self._ways.find(), ways.read(message.get("services"))
                made = await other.guests.listen(
                    home, count if type(count) is int else 1, own.services + far.services
                )
                other.home = home
                return {"junctions": [junction.json() for junction in made], **own.json()}
            case "know":
                if other.home is None:
                    raise RunError("nothing joins the two runs")
                await other.guests.admit(message.get("clusters"), other.home)
                return {"clusters": self._growing.own()}
            case "connect":
                node, limit = message.get("node"), message.get("limit")
                if type(node) is not int or not isinstance(limit, int | float):
                    raise RunError("a connecting side must give its number and how long it waits")
                within = message.get("within")  # with the time that the way here took
                within = float(within if isinstance(within, int | float) else limit)
                return await self._wait_at(port, other.guests.node(node), float(limit), within)
            case what:
                raise RunError(f"the run {self._job} does not know the request '{what}'")

    async def _wait_at(self, port: str, node: int, limit: float, within: float) -> Message:
        """Waits until somebody accepts there. The error says `within`."""
        met: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def answer(said: Message) -> None:
            if not met.done():
                met.set_result(said)

        caller = Caller(node, answer)
        self._ports.connect(port, caller)
        try:
            await asyncio.wait({met}, timeout=limit)
        finally:
            self._ports.forget(port, caller)
        if not met.done():
            raise RefusedError(
                "port",
                f"nobody has accepted at the port {shown(port)} within {within:g} s (the info key "
                "'timeout' sets a longer limit)",
            )
        said = met.result()
        if "error" in said:
            raise RefusedError(str(said["error"]), str(said.get("message")))
        return {**said, "clusters": self._growing.own()}

    # -- the end -----------------------------------------------------------------------------

    def lost(self, run: str) -> None:
        """The junctions to that run are gone."""
        if other := self._others.get(run):
            other.wire.close()

    async def _part(self, other: _Other) -> None:
        self._others.pop(other.run, None)
        self._gone.add(other.run)
        if self._closed:
            return
        await asyncio.sleep(_GRACE)
        await other.guests.part(
            f"the run {other.run} has ended, but this one still had communicators with it; after "
            "MPI_Comm_disconnect either run may end"
        )

    def close(self) -> None:
        """Other runs learn that this run has ended."""
        self._closed = True
        for other in list(self._others.values()):
            other.wire.close()
