"""The contestants of collectives: one program over all clusters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus.base.itself import itself
from isthmus.measuring.ends import End
from isthmus.measuring.process import measure
from isthmus.measuring.tasks import LATENCY_BYTES, STREAM_BYTES, Task
from isthmus_lab.bench.coll.bounds import Wires
from isthmus_lab.bench.coll.peers import Setting
from isthmus_lab.bench.coll.results import CollRun, run_from_json
from isthmus_lab.bench.coll.tasks import CollTask
from isthmus_lab.bench.contestants import PlainTcp
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.measuring.place import Place

_ISTHMUS = itself()
_START_LIMIT = 180.0  # seconds for all ranks to come up


@dataclass(frozen=True)
class Block:
    """The ranks of a cluster, and the program compiled there."""

    cluster: str
    ranks: int
    program: str


@dataclass(frozen=True)
class IsthmusWorld:
    """`isthmus run` over all clusters. If it has `choices` for ISTHMUS_COLL, only `collectives` are
    measured. The choices may name algorithms of the library `papers`."""

    key: str
    label: str
    grid: Path
    blocks: tuple[Block, ...]
    choices: str = ""
    collectives: frozenset[str] | None = None
    papers: Path | None = None
    ceiling: int | None = None

    def measure(self, tasks: Sequence[CollTask], number: int) -> list[CollRun]:
        command = [*_ISTHMUS, "run", "-g", str(self.grid)]
        words = [blocks_word(self.blocks), *(task.text for task in tasks)]
        for i, block in enumerate(self.blocks):
            command += [":"] if i else []
            command += ["--on", block.cluster, "-n", str(block.ranks)]
            if self.choices:
                command += ["-x", f"ISTHMUS_COLL={self.choices}"]
            if self.choices and self.papers:
                command += ["-x", f"ISTHMUS_DEBUG_ALGORITHMS={self.papers}"]
            command += [block.program, *words]
        return measure(command, tasks, self.key, number, run_from_json, start=_START_LIMIT)


@dataclass(frozen=True)
class NativeWorld:
    """A native MPI as one job over all sites of a lab."""

    key: str
    label: str
    mpi: Mpi
    program: str
    blocks: tuple[Block, ...]
    setting: Setting
    hosts: tuple[str, ...] = ()  # empty: all nodes
    ceiling: int | None = None

    @property
    def collectives(self) -> frozenset[str] | None:
        return self.setting.collectives

    def measure(self, tasks: Sequence[CollTask], number: int) -> list[CollRun]:
        ranks = sum(block.ranks for block in self.blocks)
        command = [*_ISTHMUS, "lab", "mpirun", "--mpi", self.mpi.name, "-n", str(ranks)]
        command += ["--hosts", ",".join(self.hosts)] if self.hosts else []
        command += ["env"]
        command += [f"{name}={value}" for name, value in self.setting.environment.items()]
        command += [self.program, blocks_word(self.blocks), *(task.text for task in tasks)]
        return measure(command, tasks, self.key, number, run_from_json, start=_START_LIMIT)


def blocks_word(blocks: Sequence[Block]) -> str:
    return "blocks=" + ",".join(str(block.ranks) for block in blocks)


def measure_wires(place: Place) -> Wires:
    """Plain TCP: bandwidth between two nodes of the first site, and half a round trip between it
    and the farthest site. Works only in labs, which have nodes for this. RunError if it fails."""
    if place.network is None:
        raise RunError("the links of nodes are measured only in labs")
    near, _ = place.ends
    nodes = place.network.of_site(near.cluster, "node")
    if len(nodes) < 2:
        raise RunError(f"site {near.cluster} has a single node, so its links cannot be measured")
    beside = End(near.cluster, nodes[1].name, nodes[1].name)
    stream = Task("stream", STREAM_BYTES, 3, 1.5)
    ping = Task("pingpong", LATENCY_BYTES, 20)
    inside = PlainTcp(replace(place, ends=(near, beside))).measure([stream], 0)[0]
    delays: list[float] = []
    for site in place.grid.cluster:
        there = place.network.of_site(site, "node")
        if site == near.cluster or not there:
            continue
        far = End(site, there[0].name, there[0].name)
        across = PlainTcp(replace(place, ends=(near, far))).measure([ping], 0)[0]
        delays.append(min(across.seconds) / 2)
    rates = [
        stream.bytes * count / seconds
        for count, seconds in zip(inside.messages, inside.seconds, strict=True)
    ]
    if not delays:
        raise RunError(f"{place.name} has no second site with nodes")
    return Wires(max(rates), max(delays))
