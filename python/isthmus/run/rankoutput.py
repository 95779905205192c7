"""The ranks' output, without lines that this launcher reports better."""

from collections.abc import Callable

from isthmus.base.relay import OutputRelay, Voice
from isthmus.run.chatter import LastWords
from isthmus.run.members import Member


class RankOutput:
    """Passes the output of all ranks on to this process's output. Needs a running loop."""

    def __init__(self, voice: Voice, on_broken: Callable[[], None]) -> None:
        """`on_broken` is called once, when nobody reads the output any more."""
        self._voice = voice
        self._relay = OutputRelay(on_broken)
        self._last_words = LastWords()

    @property
    def last_words(self) -> list[str]:
        """Ranks' sentences about the end, in case the launcher has no sentence of its own."""
        return self._last_words.kept

    async def show(self, member: Member, fd: int, data: bytes, known: str) -> None:
        """`known` is the sentence that the launcher is going to print."""
        data = member.chatter.sift(fd, data)
        if fd == 2:
            data = self._last_words.sift(data, known)
        await self._relay.put(id(member.agent), fd, data)

    async def rest(self, member: Member) -> None:
        """At the end of a member's output: writes what waits. The native launcher's own words
        follow if the user wants each step: Isthmus has its own sentence for the same."""
        for fd, data in member.chatter.rest():
            await self._relay.put(id(member.agent), fd, data)
        if self._voice.verbose:
            name = member.cluster.name
            lines = [f"cluster {name}: ".encode() + line for line in member.chatter.kept]
            await self._relay.put(id(member.agent), 2, b"".join(lines))

    async def drain(self) -> None:
        """Returns when all is written; nothing is shown after this."""
        await self._relay.drain()
