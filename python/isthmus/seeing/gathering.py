"""`--trace`: fetches the traces of all processes, with the readings that put them on one clock."""

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from isthmus.base.errors import IsthmusError
from isthmus.base.leftovers import Leftovers
from isthmus.run.agent import Agent
from isthmus.run.members import Member, Members
from isthmus.seeing import clocks
from isthmus.seeing.clocks import Clock, Reading

_LIMIT = 60.0  # seconds that an agent has for each piece


@dataclass
class Gathered:
    """What was fetched: `files` below `folder`, each with the index of its agent."""

    folder: tempfile.TemporaryDirectory[str]
    leftovers: Leftovers = field(init=False)
    files: list[tuple[int, Path]] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)  # of the agents
    names: list[str] = field(default_factory=list)  # of the agents' clusters
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.leftovers = Leftovers(self.folder.name)

    def remove(self) -> None:
        self.folder.cleanup()
        self.leftovers.remove()


class Gathering:
    """For one run. Call `begin` before its ranks start, `take` for an agent that is about to leave,
    and `finish` when ranks have ended and agents still live."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._seen: list[Member] = []
        self._taken: set[int] = set()  # indices of agents whose traces are here
        self._rounds: list[dict[int, Reading]] = []
        self._found = Gathered(
            tempfile.TemporaryDirectory(prefix="isthmus-trace-", ignore_cleanup_errors=True)
        )

    async def begin(self) -> None:
        await self._read_clocks([self._index(member) for member in self._members])

    async def take(self, member: Member) -> None:
        await self._take([self._index(member)])

    async def finish(self) -> Gathered:
        living = [m for m in self._members if not m.lost and not m.dropped]
        await self._take([self._index(m) for m in living])
        found = self._found
        found.names = [member.cluster.name for member in self._seen]
        found.clocks = clocks.merged([m.agent.memory for m in self._seen], self._rounds)
        found.files.sort(key=lambda file: (file[0], file[1].name))
        return found

    def _index(self, member: Member) -> int:
        if member not in self._seen:
            self._seen.append(member)
        return self._seen.index(member)

    async def _take(self, indices: Sequence[int]) -> None:
        wanted = [index for index in indices if index not in self._taken]
        self._taken.update(wanted)
        await self._read_clocks(wanted)
        await asyncio.gather(*(self._fetch(i, self._seen[i].agent, self._found) for i in wanted))

    async def _read_clocks(self, indices: Sequence[int]) -> None:
        asked = (clocks.ask(self._seen[index].agent) for index in indices)
        readings = zip(indices, await asyncio.gather(*asked), strict=True)
        self._rounds.append({index: reading for index, reading in readings if reading})

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
        found.remove()
