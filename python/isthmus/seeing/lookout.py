"""The end of a run that `isthmus ps` and `isthmus top` ask: a unix socket, with a line of JSON for
each question and each answer."""

import asyncio
import contextlib
import json
import os
import shlex
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

from isthmus.base.leftovers import Leftovers
from isthmus.base.relay import Voice
from isthmus.doors.admission import Limits
from isthmus.doors.doorway import Doorway, FirstLine, Place
from isthmus.place.plan import Plan
from isthmus.run.agent import Message
from isthmus.run.members import Member, Members
from isthmus.run.stats import Stats
from isthmus.run.whereabouts import Answers, Whereabouts, waits_for
from isthmus.run.wire import MOST_LINE
from isthmus.seeing import runs

_LIMIT = 1.0  # seconds that agents have to answer
_ASKERS = Limits(total=32, of_network=16, of_site=16)

Welcome = Callable[[Message, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]]
Published = Callable[[str], Message]
Newcomers = Callable[[Message], Message]


class Lookout:
    """For one run, from `open` to `close`. Its failures do no harm to the run."""

    def __init__(
        self,
        plan: Plan,
        members: Members,
        whereabouts: Whereabouts,
        welcome: Welcome,
        published: Published,
        newcomers: Newcomers,
        voice: Voice,
    ) -> None:
        """`welcome` gets the connection of another run's launcher that wants to meet, and its first
        message; `published` returns the port of a name; `newcomers` answers `join` and
        `leave`."""
        self._plan = plan
        self._welcome = welcome
        self._published = published
        self._newcomers = newcomers
        self._members = members
        self._whereabouts = whereabouts
        self._started = time.time()
        self._socket: Leftovers | None = None
        say = voice.narrate
        self._doorway = Doorway(
            greet=self._greet, say=say, tell=say, limits=_ASKERS, first_line=MOST_LINE
        )
        self._looks: dict[int, Message] = {}  # by member, what it answered last
        self._here: Answers = {}  # of the ranks
        self._looking = asyncio.Lock()

    async def open(self) -> str:
        """Returns why nobody can ask, or an empty string."""
        try:
            folder = runs.own_folder()
            path = folder / self._plan.job
            # Under its final name, a socket that refuses connections would count as abandoned.
            early = folder / f".{self._plan.job}"
            early.unlink(missing_ok=True)
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(str(early))
            early.chmod(0o600)
            listening.listen()
            self._doorway.listen(listening)
            early.rename(path)
            self._socket = Leftovers(path)
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def close(self) -> None:
        if self._socket:
            self._socket.remove()
        self._doorway.close()

    def hear(self, member: Member, message: Message) -> None:
        """Takes a `look` from an agent."""
        self._looks[id(member)] = message
        self._members.changed()

    async def _greet(self, first: FirstLine, place: Place) -> None:
        reader, writer = await first.streams(MOST_LINE)
        while line := await reader.readline():
            question: object = json.loads(line)
            place.in_time()
            if isinstance(question, dict) and question.get("ask") == "meet":
                if await self._welcome(question, reader, writer):
                    place.proved()
                else:
                    await writer.wait_closed()  # the answer arrives first
                return
            answer = await self._answer(question)
            writer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
            await writer.drain()

    async def _answer(self, question: object) -> dict[str, Any]:
        asked = question if isinstance(question, dict) else {}
        match asked.get("ask"):
            case "about":
                return self._about()
            case "ranks":
                await self._look(processes=True)
                return {**self._about(), "ranks": self._ranks()}
            case "look":
                await self._look(processes=False)
                return {**self._about(), **self._crossed(), "ranks": self._ranks()}
            case "where":
                return {"job": self._plan.job, "lines": await self._whereabouts.ask()}
            case "lookup":
                return self._published(str(asked.get("service")))
            case "join" | "leave":
                return self._newcomers(asked)
            case what:
                return {"error": f"this run does not know the question '{what}'"}

    def _about(self) -> dict[str, Any]:
        return {
            "job": self._plan.job,
            "pid": os.getpid(),
            "started": self._started,
            "time": time.time(),
            "program": _programs(self._plan),
            "size": self._plan.size,
            "alone": self._plan.alone,
            "clusters": [self._cluster(member) for member in self._members.ranked],
            "spares": self._spares(),
        }

    def _cluster(self, member: Member) -> dict[str, Any]:
        joined = 0
        for look in self._looks.values():
            ranks = look.get("ranks")
            here = ranks.get(member.cluster.name, 0) if isinstance(ranks, dict) else 0
            joined = max(joined, here if isinstance(here, int) else 0)
        return {
            "name": member.cluster.name,
            "host": member.agent.host,
            "size": member.cluster.block.size,
            "joined": member.cluster.block.size if member.joined else joined,
            "state": _state_of(member),
        }

    def _spares(self) -> list[dict[str, Any]]:
        """The spare clusters in which nothing runs."""
        used = {self._plan.places[m.plan.cluster].name for m in self._members if not m.lost}
        unused = [spare for spare in self._plan.spares if spare.name not in used]
        return [{"name": spare.name, "host": spare.spec.host or ""} for spare in unused]

    # -- asking the agents -------------------------------------------------------------------

    async def _look(self, *, processes: bool) -> None:
        """Asks all agents and ranks at once; agents that do not answer in time are left out."""
        async with self._looking:
            self._looks.clear()
            asked = [m for m in self._members if m.spawned and not m.lost]
            asked += [m for m in self._members if not m.plan.has_ranks and not m.lost]
            for member in asked:
                self._members.later(member.agent.send("look", processes=processes))
            everyone = self._members.until(lambda: all(id(m) in self._looks for m in asked))
            if self._plan.alone:  # its ranks have no means to answer
                await _within(everyone, _LIMIT)
                return
            _, self._here = await asyncio.gather(
                _within(everyone, _LIMIT), self._whereabouts.gather(traces=False)
            )

    def _crossed(self) -> dict[str, Any]:
        stats = Stats()
        for member in self._members:
            if look := self._looks.get(id(member)):
                own = {gateway.node for gateway in member.plan.gateways}
                stats.add(look, member.plan.cluster, own)
        of_rank = self._clusters_of_ranks()
        for rank, here in self._here.items():
            # A process that has left has reported to its gateway, and answers no more.
            stats.add({"direct": here.get("direct")}, of_rank.get(rank, 0), set())
        name = self._plan.cluster_name
        return {
            "links": [
                {"from": self._plan.gateway_name(a), "to": self._plan.gateway_name(b), **count}
                for (a, b), count in sorted(stats.links.items())
            ],
            "crossings": [
                {
                    "by": self._plan.gateway_name(node),
                    "from": name(a),
                    "to": name(b),
                    **count,
                }
                for (node, a, b), count in sorted(stats.crossings.items())
            ],
            "direct": [
                {
                    "from": name(a),
                    "to": name(b),
                    "memory": (min(a, b), max(a, b)) in self._plan.shared,
                    **count,
                }
                for (a, b), count in sorted(stats.direct.items())
            ],
        }

    def _clusters_of_ranks(self) -> dict[int, int]:
        """The index of each rank's cluster."""
        names = [cluster.name for cluster in [*self._plan.clusters, *self._plan.grown]]
        return {
            rank: names.index(member.cluster.name)
            for member in self._members.ranked
            if member.cluster.name in names
            for rank in self._whereabouts.ranks_of(member)
        }

    def _ranks(self) -> list[dict[str, Any]]:
        return [rank for member in self._members.ranked for rank in self._ranks_of(member)]

    def _ranks_of(self, member: Member) -> list[dict[str, Any]]:
        seen = {}
        look = self._looks.get(id(member), {})
        for process in look.get("processes") or []:
            if isinstance(process, dict) and isinstance(process.get("rank"), int):
                seen[process["rank"]] = {**process, "host": member.agent.host}
        told = []
        for rank in self._whereabouts.ranks_of(member):
            here = self._here.get(rank)
            known = here or self._whereabouts.known.get(rank) or seen.get(rank) or {}
            told.append(
                {
                    "rank": rank,
                    "cluster": member.cluster.name,
                    "host": known.get("host"),
                    "pid": known.get("pid"),
                    "program": known.get("program"),
                    **_doing(member, here),
                }
            )
        return told


def _doing(member: Member, here: Message | None) -> dict[str, Any]:
    """What a rank does: `state`, what it waits `for`, and the `seconds` of that."""
    if here is None:
        state = _state_of(member)
        return {"state": "silent" if state == "running" and member.joined else state}
    waits = [wait for wait in here.get("waits") or [] if isinstance(wait, dict)]
    if not waits:
        return {"state": "native" if here.get("native") else "computing"}
    longest = max(float(wait.get("seconds") or 0) for wait in waits)
    return {"state": "waiting", "for": waits_for(here), "seconds": longest}


def _state_of(member: Member) -> str:
    if member.failed:
        return "failed"
    if member.exited:
        return "ended"
    if member.lost:
        return "lost"
    return "running" if member.spawned else "starting"


def _programs(plan: Plan) -> str:
    """The parts of the command line, as they were typed."""
    parts = {part.number: part for cluster in plan.clusters for _, part in cluster.block.parts}
    return " : ".join(shlex.join(parts[number].argv) for number in sorted(parts))


async def _within(work: Any, limit: float) -> None:
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(work, limit)
