"""The calls in which ranks are, and the ranks they wait for, by their own account."""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from isthmus.base.relay import Voice
from isthmus.run.agent import Message
from isthmus.run.members import Member, Members

_LIMIT = 1.0  # seconds that ranks have to answer
_ONE_BY_ONE = 32  # ranks; with more, ranks that say the same share a line
_NAMED = 6  # peers in a sentence
_NOBODY_SAYS = (
    "no rank can say where it is: all are stopped, have not called MPI_Init, or are in the native "
    "library at the end of MPI_Finalize"
)

Answers = Mapping[int, Message]


@dataclass
class Whereabouts:
    """Answers of ranks since they were last asked. Ranks whose cluster has several gateways are
    asked twice, and answer twice."""

    members: Members
    answers: dict[int, Message] = field(default_factory=dict)
    known: dict[int, Message] = field(default_factory=dict)
    """The last answer of each rank that has ever given one."""
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def hear(self, message: Message) -> None:
        here = message.get("here")
        if isinstance(here, dict) and isinstance(here.get("rank"), int):
            self.answers[here["rank"]] = here
            self.known[here["rank"]] = here
            self.members.changed()

    async def ask(self) -> list[str]:
        """Lines for the user; empty if no rank can answer."""
        answers = await self.gather(traces=True)
        return view(sorted(self._ranks()), answers) if answers else []

    async def gather(self, *, traces: bool) -> Answers:
        """New answers. If `traces`, processes that trace also write their records out."""
        async with self._asking:
            self.answers.clear()
            asked = [m for m in self.members if not m.lost]
            for member in asked:
                self.members.later(member.agent.send("where", traces=traces))
            ranks = list(self._ranks())
            with contextlib.suppress(asyncio.TimeoutError):
                everyone = self.members.until(lambda: all(rank in self.answers for rank in ranks))
                await asyncio.wait_for(everyone, _LIMIT)
            return dict(self.answers)

    async def say(self, voice: Voice) -> None:
        if lines := await self.ask():
            voice.say("the ranks are in:\n" + "\n".join(f"  {line}" for line in lines))
        else:
            voice.say(_NOBODY_SAYS)

    def _ranks(self) -> Iterable[int]:
        """The ranks of the clusters that run."""
        for member in self.members.running:
            yield from self.ranks_of(member)

    def ranks_of(self, member: Member) -> Sequence[int]:
        return member.cluster.block.world_ranks


def view(ranks: Sequence[int], answers: Answers) -> list[str]:
    if len(ranks) <= _ONE_BY_ONE:
        return [_line(rank, answers.get(rank)) for rank in ranks]
    alike: dict[str, list[int]] = {}
    for rank in ranks:
        alike.setdefault(_sentence(answers.get(rank), times=False), []).append(rank)
    return [f"{ranks_text(group)}: {said}" for said, group in alike.items()]


def _line(rank: int, here: Message | None) -> str:
    where = f" ({here.get('host')}, process {here.get('pid')})" if here else ""
    return f"rank {rank}{where}: {_sentence(here, times=True)}"


def _sentence(here: Message | None, *, times: bool) -> str:
    if here is None:
        return "does not answer: it is stopped, has not called MPI_Init, or has left"
    waits = _dicts(here.get("waits"))
    if not waits:
        native = "inside the native library" if here.get("native") else ""
        return native or "in no call that waits for another cluster"
    awaited = _dicts(here.get("awaited"))
    return "; ".join(_wait(wait, awaited, times) for wait in waits)


def waits_for(here: Message) -> str:
    """The thing that a waiting rank waits for, without times."""
    return _sentence(here, times=False)


def _wait(wait: Message, awaited: list[Message], times: bool) -> str:
    said = str(wait.get("call"))
    if requests := wait.get("requests"):
        said += f" of {requests} request" + ("s" if requests != 1 else "")
    named = _message(wait)
    said += named
    if size := wait.get("size"):
        said += f", on {wait.get('comm') or 'a communicator'} of {size} ranks"
    if not named:
        # A collective waits for its own messages alone.
        said += _peers(one for one in awaited if requests or one.get("collective"))
    return said + (f", for {wait.get('seconds', 0):.0f} s" if times else "")


def _message(one: Message) -> str:
    """ " from rank 7 with tag 5"."""
    text = ""
    if (source := one.get("from")) is not None:
        text = " from any rank" if source < 0 else f" from rank {source}"
    elif (to := one.get("to")) is not None:
        text = f" to rank {to}"
    if not text:
        return ""
    tag = one.get("tag", -1)
    return text + (" with any tag" if tag < 0 else f" with tag {tag}")


def _peers(awaited: Iterable[Message]) -> str:
    """, awaiting messages from rank 3, from rank 7"."""
    texts = []
    for one in awaited:
        text = _message(one).lstrip()
        if one.get("collective"):
            text = text.partition(" with ")[0]
        if text and text not in texts:
            texts.append(text)
    if not texts:
        return ""
    more = ", ..." if len(texts) > _NAMED else ""
    return f", awaiting messages {', '.join(texts[:_NAMED])}{more}"


def ranks_text(ranks: Sequence[int]) -> str:
    """ "ranks 0-3, 7", ascending."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and runs[-1][-1] == rank - 1:
            runs[-1][1:] = [rank]
        else:
            runs.append([rank])
    text = ", ".join("-".join(map(str, run)) for run in runs)
    return f"rank{'s' if len(ranks) > 1 else ''} {text}"


def _dicts(value: Any) -> list[Message]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
