"""The contestants: `isthmus run`, and native MPIs as one job over the nodes of a lab."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Protocol

from isthmus.base.errors import RunError
from isthmus.base.itself import itself
from isthmus.measuring.process import lines, started
from isthmus_lab.bench.app.layouts import Setup, Shares
from isthmus_lab.bench.app.programs import Program, Where
from isthmus_lab.bench.mpis import Mpi, mpicc_at
from isthmus_lab.lab.network import Network
from isthmus_lab.measuring.place import Place, end_of

_ISTHMUS = itself()
# For ranks in a lab: waiting ranks yield under every launcher, since they share few cores. All have
# libisthmus_nospin preloaded; the grid files of labs give it other settings.
_YIELDING = {"OMPI_MCA_mpi_yield_when_idle": "1", "ISTHMUS_NOSPIN_EMPTY": "4"}
_PARTING = 15.0  # seconds to end after the last needed output
_MOST_LINES = 200  # lines of output that are kept


class Contestant(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    def plays(self, setup: Setup) -> bool:
        """Whether it can run there."""
        ...

    def command(self, program: Program, setup: Setup) -> list[str]:
        """RunError if the program is not available."""
        ...


@dataclass(frozen=True)
class IsthmusApp:
    """`isthmus run`; a program is compiled on the clusters that have ranks."""

    key: str
    label: str
    place: Place
    grid: Path
    natives: tuple[Mpi, ...]

    def plays(self, setup: Setup) -> bool:
        return True

    def command(self, program: Program, setup: Setup) -> list[str]:
        command = [*_ISTHMUS, "run", "-g", str(self.grid)]
        for i, (cluster, ranks) in enumerate(setup.shares):
            command += [":"] if i else []
            command += ["--on", cluster, "-n", str(ranks)]
            for name, value in _YIELDING.items() if self.place.lab else ():
                command += ["-x", f"{name}={value}"]
            command += program.words(self._where(cluster), setup.ranks)
        return command

    def _where(self, cluster: str) -> Where:
        end = end_of(self.place, cluster)
        names = [cluster, *([end.mpi] if end.mpi else [])]
        if not end.mpi and not end.compile_on:
            names += names_of(self.natives[0]) if self.natives else []
        return Where(tuple(names), mpicc_at(end, self.natives), end.compile_on)


@dataclass(frozen=True)
class NativeApp:
    """A native MPI, as one job over the nodes for the ranks. The nodes can be of several sites only
    if sites are `joined`."""

    key: str
    label: str
    network: Network
    mpi: Mpi
    settings: Mapping[str, str] = field(default_factory=dict)
    joined: bool = True

    def plays(self, setup: Setup) -> bool:
        return self.joined or len(setup.shares) == 1

    def command(self, program: Program, setup: Setup) -> list[str]:
        words = program.words(Where(tuple(names_of(self.mpi)), self.mpi.mpicc), setup.ranks)
        hosts = ",".join(hosts_of(self.network, setup.shares))
        command = [*_ISTHMUS, "lab", "mpirun", "--mpi", self.mpi.name, "--hosts", hosts]
        command += ["-n", str(setup.ranks), "env"]
        return [*command, *(f"{name}={value}" for name, value in self.settings.items()), *words]


def names_of(mpi: Mpi) -> list[str]:
    """The names by which --program may mean it, the narrowest first."""
    return list(dict.fromkeys([mpi.name, mpi.key, mpi.family]))


def hosts_of(network: Network, shares: Shares) -> list[str]:
    """The nodes of a native job: of each site as many as its ranks need."""
    made = []
    for site, ranks in shares:
        slots = network.segments[site].slots
        made += [node.name for node in network.of_site(site, "node")[: -(-ranks // slots)]]
    return made


@dataclass(frozen=True)
class Took:
    """`seconds` as the program reports them, or as long as the command took."""

    seconds: float
    wall: float


def execute(command: Sequence[str], program: Program, limit: float) -> Took:
    """Runs the program once. RunError if it fails, lacks a required output, or takes more than
    `limit` seconds."""
    begin = time.monotonic()
    kept: list[str] = []
    with started(command, None) as (process, said):
        try:
            for line in lines(process, _left(begin + limit)):
                kept = [*kept[1 - _MOST_LINES :], line]
                if _complete(program, kept):
                    break
        except TimeoutError:
            raise RunError(f"was not done after {limit:.0f} s{said.tail()}") from None
        # Some MPIs hang in MPI_Finalize now and then: the program's output counts.
        with suppress(TimeoutExpired):
            process.wait(_PARTING)
        wall, status, tail = time.monotonic() - begin, process.returncode, said.tail()
    if status:
        raise RunError(f"ended with status {status}{tail or _quoted(kept)}")
    return Took(_seconds(program, kept, wall), wall)


def _left(deadline: float) -> Iterator[float]:
    while True:
        yield deadline - time.monotonic()


def _found(expression: str, kept: Sequence[str]) -> "re.Match[str] | None":
    """The last one."""
    return next(filter(None, (re.search(expression, line) for line in reversed(kept))), None)


def _complete(program: Program, kept: Sequence[str]) -> bool:
    """Whether only the end of the program is still awaited."""
    wanted = (program.time, program.require)
    return None not in wanted and all(_found(text, kept) for text in wanted if text)


def _seconds(program: Program, kept: Sequence[str], wall: float) -> float:
    if program.require is not None and not _found(program.require, kept):
        raise RunError(f"its output lacks '{program.require}'{_quoted(kept)}")
    if program.time is None:
        return wall
    found = _found(program.time, kept)
    try:
        seconds = float(found[1]) if found else 0.0
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        raise RunError(f"its output has no time ('{program.time}'){_quoted(kept)}")
    return seconds


def _quoted(kept: Sequence[str]) -> str:
    return "".join(f"\n  | {line}" for line in kept[-6:])
