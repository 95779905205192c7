"""`--trace`: traces of all processes brought here, with what puts them on one clock."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from isthmus.agent import Agent
from isthmus.errors import IsthmusError
from isthmus.members import Member, Members
from isthmus.seeing import clocks
from isthmus.seeing.clocks import Clock, Reading

_LIMIT = 60.0  # seconds that an agent has for each piece


@dataclass
class Gathered:
    """What was brought: `files` below `folder`, each with the index of its agent."""

    folder: tempfile.TemporaryDirectory[str]
    files: list[tuple[int, Path]] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)  # of the agents
    clusters: list[int] = field(default_factory=list)  # of the agents
    trouble: list[str] = field(default_factory=list)


class Gathering:
    """Of a run. `begin` before its ranks start, `finish` when they have ended and agents live."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._seen: list[Member] = []
        self._rounds: list[list[Reading | None]] = []

    async def begin(self) -> None:
        await self._read_clocks()

    async def _read_clocks(self) -> None:
        self._seen += [member for member in self._members if member not in self._seen]
        readings = await asyncio.gather(*(self._clock(member) for member in self._seen))
        self._rounds.append(list(readings))

    async def _clock(self, member: Member) -> Reading | None:
        return None if member.lost or member.dropped else await clocks.ask(member.agent)

    async def finish(self) -> Gathered:
        await self._read_clocks()
        rounds = [[*r, *[None] * (len(self._seen) - len(r))] for r in self._rounds]
        found = Gathered(
            tempfile.TemporaryDirectory(prefix="isthmus-trace-", ignore_cleanup_errors=True),
            clocks=clocks.merged([m.agent.memory for m in self._seen], rounds),
            clusters=[member.plan.cluster for member in self._seen],
        )
        await asyncio.gather(*(self._fetch(index, m.agent, found) for index, m in self._living()))
        found.files.sort(key=lambda file: (file[0], file[1].name))
        return found

    def _living(self) -> Iterator[tuple[int, Member]]:
        for index, member in enumerate(self._seen):
            if not member.lost and not member.dropped:
                yield index, member

    async def _fetch(self, index: int, agent: Agent, found: Gathered) -> None:
        folder = Path(found.folder.name) / str(index)
        folder.mkdir()
        try:
            listed = await agent.request("traces", "traces", _LIMIT)
            for file in listed.get("files") or []:
                name = Path(str(file["name"])).name
                await _copy(agent, name, int(file["size"]), folder / name)
                found.files.append((index, folder / name))
        except (IsthmusError, KeyError, TypeError, ValueError) as error:
            found.trouble.append(f"{agent.label}: not all traces could be fetched: {error}")


async def _copy(agent: Agent, name: str, size: int, to: Path) -> None:
    with to.open("wb") as out:
        while out.tell() < size:
            said = await agent.request("trace", "trace", _LIMIT, name=name, offset=out.tell())
            piece = said.get("payload")
            if not piece:
                break
            out.write(piece)


def names_of(missing: Sequence[int]) -> str:
    """ "rank 3", "ranks 3, 5 and 7 more"."""
    shown = ", ".join(map(str, missing[:8]))
    more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
    return f"rank{'s' if len(missing) > 1 else ''} {shown}{more}"


def remove(found: Gathered) -> None:
    with suppress(OSError):
        found.folder.cleanup()
