"""The places of spawned processes: the native jobs that are started for them."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.place.placement import Block, Part
from isthmus.place.plan import ClusterPlan
from isthmus.run.agent import Message

# The keys of an MPI_Info that Isthmus reads; all others are for other libraries.
KEYS = ("cluster", "host", "wdir", "path", "env", "timeout")


@dataclass(frozen=True)
class Growth:
    """A cluster by which the world grows: processes that start as one native job. `like` is the
    index of the cluster to which they really belong, and whose gateways they use. Guests belong to
    another `run`, which knows their first process as `there`. For guests, `like` has the gateways
    that lead to them, and `machine` is how their run describes their hosts. In a cluster that came
    while the world was running, `gateways` are its own, and `next` and `hops` the ways to them from
    other gateways."""

    index: int
    like: int
    cluster: ClusterPlan
    part: int
    run: str = ""
    there: int = 0
    machine: Message | None = None
    gateways: tuple[int, ...] = ()
    next: Mapping[int, list[int]] = field(default_factory=dict)
    hops: Mapping[int, int] = field(default_factory=dict)

    def json(self, machine: Message) -> dict[str, object]:
        """The entry of `grow` (docs/control.md). `machine` is that of the cluster that it is
        like."""
        if self.machine is not None:
            machine = self.machine
        guests = {"run": self.run, "there": self.there} if self.run else {}
        ways: Message = {"like": self.like}
        if self.gateways:
            ways = {
                "gateways": [*self.gateways],
                "hops": [*self.hops.items()],
                "net": self.cluster.spec.net,
            }
        return (
            guests
            | ways
            | {
                "index": self.index,
                "name": self.cluster.name,
                "size": self.cluster.block.size,
                "arch": machine.get("arch") or "",
                "byteorder": machine.get("byteorder") or "",
                "long_double": machine.get("long_double") or "",
                "part": self.part,
                "encrypt": self.cluster.spec.encrypt,
            }
        )


@dataclass(frozen=True)
class Command:
    """One command of MPI_Comm_spawn_multiple; `paths` are the folders to search for the program,
    `timeout` the seconds to wait for a cluster that is queued."""

    argv: list[str]
    n: int
    cluster: str | None = None
    wdir: str | None = None
    paths: tuple[str, ...] = ()
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    timeout: float | None = None


def read_commands(entries: object) -> list[Command]:
    """Reads the question of a rank. UsageError if it is malformed, or if a key has a wrong
    value."""
    if not isinstance(entries, list) or not entries:
        raise UsageError("no command to spawn is given")
    return [_read_command(entry) for entry in entries]


def _read_command(entry: object) -> Command:
    if not isinstance(entry, dict):
        raise UsageError("a command to spawn is not an object")
    argv, n, info = entry.get("argv"), entry.get("n"), entry.get("info") or {}
    if not isinstance(argv, list) or not argv or not all(isinstance(a, str) for a in argv):
        raise UsageError("a command to spawn is empty")
    if type(n) is not int or n < 0:
        raise UsageError(f"'{argv[0]}' cannot be spawned {n!r} times")
    said = {key: str(info[key]) for key in KEYS if key in info}
    env = {}
    for line in said.get("env", "").split("\n"):
        name, equals, value = line.partition("=")
        if not line:
            continue
        if not equals or not name:
            raise UsageError(f"the info key 'env' has the line '{line}'", "Write NAME=VALUE.")
        env[name] = value
    if type(universe := entry.get("universe")) is int:
        env["ISTHMUS_UNIVERSE"] = str(universe)
    return Command(
        argv=argv,
        n=n,
        cluster=said.get("cluster", said.get("host")),
        wdir=said.get("wdir"),
        paths=tuple(path for path in said.get("path", "").split(":") if path),
        env=env,
        timeout=_seconds(said["timeout"]) if "timeout" in said else None,
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise UsageError(f"the info key 'timeout' is '{text}'", "Write a number of seconds.")
    return seconds


def sites_of(clusters: Sequence[ClusterPlan], commands: Sequence[Command], home: int) -> set[int]:
    """The clusters where `grow` places processes."""
    return {site for command in commands for site in _clusters_of(clusters, command, home)}


def grow(
    clusters: Sequence[ClusterPlan],
    commands: Sequence[Command],
    *,
    home: int,
    index: int,
    first: int,
    part: int,
    named: int = 1,
) -> list[Growth]:
    """The native jobs for `commands`, in the order of their ranks. Commands that follow each other
    in one cluster and one folder share a job. `clusters` are those of the run, then those that are
    spare; `home` is the one of the rank that asks. `index` and `first` follow the last cluster and
    rank that the world has had, and `named` the last job. UsageError for an unknown cluster."""
    wanted: list[tuple[int, str | None, int, Part]] = []
    base = next(one.block for one in [clusters[home], *clusters] if one.block.parts).parts[0][1]
    for number, command in enumerate(commands):
        wdir = command.wdir or base.wdir
        part_of = Part(
            argv=command.argv,
            n=command.n,
            env={**base.env, **command.env},
            wdir=wdir,
            number=number,
        )
        where = _clusters_of(clusters, command, home)
        share, rest = divmod(command.n, len(where))
        for place, like in enumerate(where):
            if n := share + (place < rest):
                wanted.append((like, wdir, n, part_of))
    growths: list[Growth] = []
    for (like, _), group in groupby(wanted, key=lambda each: each[:2]):
        name = f"{clusters[like].name}/{named + len(growths)}"
        block = Block(name, first, [(n, part_of) for _, _, n, part_of in group])
        plan = ClusterPlan(name, clusters[like].spec, block)
        growths.append(Growth(index + len(growths), like, plan, part))
        first += block.size
    return growths


def _clusters_of(clusters: Sequence[ClusterPlan], command: Command, home: int) -> list[int]:
    """`cluster` names one or several, separated by commas; a host may stand for its cluster."""
    if command.cluster is None:
        return [home]
    names = [cluster.name for cluster in clusters]
    found = []
    for word in (each.strip() for each in command.cluster.split(",")):
        at = [i for i, c in enumerate(clusters) if word in (c.name, c.spec.host)]
        if not at:
            spare = [c.name for c in clusters if not c.block.parts]
            known = [c.name for c in clusters if c.block.parts]
            raise UsageError(
                f"'{command.argv[0]}' cannot be spawned in '{word}', which is not a cluster of "
                f"this run{did_you_mean(word, names)}; it has {listing(known)}"
                + (f"; spare: {listing(spare)}" if spare else "; none is spare")
            )
        found.append(at[0])
    return found
