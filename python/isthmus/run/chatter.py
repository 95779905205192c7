"""Native launchers print long blocks about ranks that failed, in a numbering of their own, and
about innocent clusters too. Isthmus says the same in one sentence. The blocks are taken out of the
ranks' output, and kept for users who want each step (-v)."""

import re
from collections.abc import Iterator

from isthmus.run.slurmwords import SlurmWords

# Patterns are compiled when they are first used: all at once take 7 ms of each start (2026-11).

# Blocks between lines of dashes (Open MPI 4.1, 5.0; 2026-11) that follow from the end of a rank.
# Others, such as those about slots, pass.
_RULE = rb"-{70,80}\r?\n"
_FOLLOWS = (
    rb"Primary job +terminated normally, but"
    rb"|\S*(mpirun|mpiexec|prterun|prte)\S* (noticed that|detected that one or more"
    rb"|has exited due to process rank \d+ )"
    rb"|MPI_ABORT was invoked on rank"
)
# Hydra (MPICH 4.0, 5.0; 2026-11): a block between lines of equals signs, and single lines. Open MPI
# 4.1 mixes up its own lines about MPI_Abort in one of two runs, natively too.
_BAR = rb"={70,90}\r?\n"
_BAD = b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
_SINGLE = (
    rb"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: "
    rb"|This typically refers to a problem with your application\."
    rb"|Please see the FAQ page for debugging suggestions"
    rb"|Abort\(\d+\) on node \d+ \(rank \d+ in comm \d+\): application called MPI_Abort"
    rb"|\[\S+:\d+\] \[\[\d+,\d+\],\d+\] ORTE_ERROR_LOG: .* in file \S*/show_help\.c at line \d"
    # Hydra trips over the end of its own proxies where the ranks are on several hosts.
    rb"|\[(proxy:[\d:]+|mpiexec)@\S+\] \w+ \(\S+:\d+\): (assert \(!closed\) failed"
    rb"|callback returned error status|demux engine error waiting for event"
    rb"|one of the processes terminated badly; aborting"
    rb"|(launcher returned|process manager) error waiting for completion)"
)
_SIGNS = (
    b"--------",
    b"========",
    b"YOUR APPLICATION",
    b"Please see the FAQ",
    b"Abort(",
    b"This typ",
    b"srun: ",
    b"slurmstepd",
    b"ORTE_ERROR_LOG",
    b"[proxy:",
    b"[mpiexec@",
)
# Hydra prints its bars sign by sign, so that lines come in pieces of any length. Its block begins
# with an empty line.
_MAY_OPEN = rb"(?:\A|(?<=\n))\n(?:={1,90}(?:\r?\n([^\n]*))?)?\Z"
_BAR_BEGUN = rb"={1,90}"
_HYDRAS = (
    _BAD,
    b"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ",
    b"This typically refers to a problem with your application.",
    b"Please see the FAQ page for debugging suggestions",
)
# Hydra prints these lines in several pieces. They are always on standard error.
_HYDRAS_ERRORS = (b"[proxy:", b"[mpiexec@")
_SIGNAL = rb"(?:exited on\s+signal (\d+)|\(signal (\d+)\))"
# In the same case Hydra does not say the signal in words. Its code is that of wait(2), and an exit
# status has no such block.
_CODE = rb"=   EXIT CODE: (\d+)"
_HOST = rb"RUNNING AT (\S+)|on node (\S+)\s+exited on\s+signal"
_MAX_BLOCK = 64  # lines
_MAX_BEGUN = 4096  # bytes


# The ranks' own words about the end that the launcher will report.
_LAST_WORDS = rb'rank \d+ (\(cluster ".*"\) ended|called MPI_Abort)'


class LastWords:
    """Lines of ranks that begin with "isthmus: " and are kept, because the launcher says them once,
    as the last."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def sift(self, data: bytes, known: str) -> bytes:
        """`known` is what the launcher is going to say."""
        if b"isthmus: " not in data:
            return data
        return b"".join(
            line for line in data.splitlines(keepends=True) if self._passes(line, known)
        )

    def _passes(self, line: bytes, known: str) -> bool:
        mark, begun, text = line.partition(b"isthmus: ")
        said = text.decode(errors="replace").rstrip()
        if mark or not begun or not (said == known or re.match(_LAST_WORDS, text)):
            return True
        if said not in self.kept:
            self.kept.append(said)
        return False


class Chatter:
    """Sifts the output of one agent, each descriptor by itself."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []  # lines, in order
        self.slurm = SlurmWords()
        self._held: dict[int, list[bytes]] = {}  # a block's lines until it is known for one
        self._begun: dict[int, bytes] = {}  # a line that may become one of Hydra's
        self._behind: set[int] = set()  # just behind a block
        self._inside: set[int] = set()  # what passed last has not ended its line

    @property
    def signal(self) -> int | None:
        """The signal that a launcher says has ended a rank."""
        said = b"".join(self.kept)
        if found := re.search(_SIGNAL, said):
            return int(found[1] or found[2])
        code = re.search(_CODE, said) if self.tripped else None
        return int(code[1]) & 0x7F or None if code else None

    @property
    def tripped(self) -> bool:
        """Whether Hydra crashed when a rank ended. Then its own status says nothing about the
        rank."""
        return any(b"assert (!closed) failed" in line for line in self.kept)

    @property
    def host(self) -> str:
        """The host of that rank, if the launcher names it, else an empty string."""
        found = re.search(_HOST, b"".join(self.kept))
        return (found[1] or found[2]).decode(errors="replace") if found else ""

    def sift(self, fd: int, data: bytes) -> bytes:
        """The ranks' own part of it. A rule that may begin a block waits for the next line."""
        held = self._held.setdefault(fd, [])
        data = self._begun.pop(fd, b"") + data
        last = data[data.rfind(b"\n") + 1 :]
        opening = None if held else re.search(_MAY_OPEN, data)
        if opening and opening.start() == 0 and fd in self._inside:
            opening = None  # the end of a line whose beginning has passed
        if opening and _BAD.startswith(opening[1] or b""):
            last = data[opening.start() :]
            self._begun[fd] = last
            data = data.removesuffix(last)
        elif last and _may_become_hydras(fd, last, fresh=last != data or fd not in self._inside):
            self._begun[fd] = last
            data = data.removesuffix(last)
        if data:
            (self._inside.discard if data.endswith(b"\n") else self._inside.add)(fd)
        if fd in self._behind:  # prterun 3 ends its blocks with a NUL
            data = data.removeprefix(b"\0")
            self._behind.discard(fd)
        if not held and not any(sign in data for sign in _SIGNS):
            return data
        kept = len(self.kept)
        passed = b"".join(self._own(held, data.splitlines(keepends=True)))
        if len(self.kept) > kept:
            own = passed.removesuffix(b"\0")
            if own == passed and data.endswith(b"-\n"):
                self._behind.add(fd)
            return own
        return passed

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """The data that waits, by descriptor, at the end of the output."""
        for fd, held in self._held.items():
            waiting = b"".join(held) + self._begun.pop(fd, b"")
            held.clear()
            if waiting:
                yield fd, waiting

    def _own(self, held: list[bytes], lines: list[bytes]) -> Iterator[bytes]:
        for number, line in enumerate(lines):
            if len(held) == 1 and not self._opens(held[0], line):
                yield held.pop()
            if len(held) > _MAX_BLOCK:
                yield b"".join(held)
                held.clear()
            if held:
                if held[-1].endswith(b"\n"):
                    held.append(b"")
                held[-1] += line
                closing = _RULE if held[0].startswith(b"-") else _BAR
                if len(held) > 2 and re.fullmatch(closing, held[-1]):
                    self.kept += held
                    held.clear()
            elif re.fullmatch(_RULE, line) or re.fullmatch(_BAR, line):
                held.append(line)
            elif re.match(_SINGLE, line) or self.slurm.hear(line):
                self.kept.append(line)
            elif line.strip() or not _before_bar(lines[number + 1 :]):
                yield line

    @staticmethod
    def _opens(rule: bytes, line: bytes) -> bool:
        return bool(re.match(_FOLLOWS, line)) if rule[:1] == b"-" else line.startswith(_BAD)


def _may_become_hydras(fd: int, line: bytes, *, fresh: bool) -> bool:
    """The line has no end yet. It is `fresh` if nothing of it has passed. Else Hydra may print
    behind an unfinished line of a rank, but a few letters of its words are the rank's own."""
    if len(line) > _MAX_BEGUN:
        return False
    hydras = _HYDRAS + _HYDRAS_ERRORS if fd == 2 else _HYDRAS
    if any(line.startswith(words) for words in hydras):
        return True
    return fresh and (
        bool(re.fullmatch(_BAR_BEGUN, line)) or any(words.startswith(line) for words in hydras)
    )


def _before_bar(lines: list[bytes]) -> bool:
    """Hydra's block begins with an empty line."""
    return len(lines) > 1 and bool(re.fullmatch(_BAR, lines[0])) and lines[1].startswith(_BAD)
