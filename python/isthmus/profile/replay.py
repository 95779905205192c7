"""Predicts the time of a program over other links, or with its ranks elsewhere, by a simple model
over the counts of its profile (docs/profile.md, "What if").

A profile knows how much was sent, not in which order, so there are three figures. The least one
waits only for bytes. The greatest one waits for everything that can form one chain (chains.py). The
likely one treats most messages from one rank to another as serial, and those of different pairs as
concurrent, unless measured waits show something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from isthmus.profile import chains, estimates
from isthmus.profile.model import Profile
from isthmus.profile.scenario import Scenario, as_it_was
from isthmus.profile.told import Collective

# Waits teach something if a message travels far longer than its sender works on it, and if the
# sampler has seen enough of them.
_LONG_RTT = 1e-3
_SEEN = 0.02  # seconds
# The share that gateways and processors add to the time of a message; links know nothing of it.
_ON_THE_WAY = 1.1
# The part of the messages from one rank to another that wait for the one before, if no waits were
# measured. In 2026-11 it was 2 for a ping-pong, where answers wait, too; 1.3 for CG, whose pairs
# wait for each other; 1 for a halo exchange; 0.6 for MG; 0.2 for LU, which sends ahead
# (bench/predictions.py). This is their geometric mean.
_SERIAL = 0.8
_SURE = 2.0  # the greatest over the least, for learned figures


@dataclass(frozen=True)
class Span:
    """Seconds."""

    least: float
    likely: float
    most: float

    def __add__(self, other: Span) -> Span:
        return Span(self.least + other.least, self.likely + other.likely, self.most + other.most)

    def after(self, rest: float) -> Span:
        return Span(rest + self.least, rest + self.likely, rest + self.most)


@dataclass(frozen=True)
class Waits:
    """The waits of the rank that waits longest, for messages between clusters."""

    messages: Span
    collectives: Span
    bytes: float  # seconds that the busiest link needs for all bytes one way
    beyond: float = 0.0  # measured beyond the greatest: no link explains it

    @property
    def all(self) -> Span:
        """Latencies, or the bytes if they take longer: both go on at the same time."""
        sum_ = self.messages + self.collectives
        return Span(
            max(sum_.least, self.bytes),
            max(sum_.likely, self.bytes) + self.beyond,
            sum_.most + self.bytes + self.beyond,
        )

    def scaled(self, by: float, beyond: float) -> Waits:
        """The likely figures, kept between the least and the greatest."""

        def of(span: Span) -> Span:
            likely = min(span.most, max(span.least, span.likely * by))
            return Span(span.least, likely, span.most)

        crosses = self.messages.most + self.collectives.most > 0
        return Waits(
            of(self.messages), of(self.collectives), self.bytes, beyond if crosses else 0.0
        )

    def guessed(self) -> Waits:
        """Some messages of a pair wait for each other."""
        of = self.messages
        likely = max(of.least, of.likely * _SERIAL)
        return Waits(Span(of.least, likely, of.most), self.collectives, self.bytes)


@dataclass(frozen=True)
class Prediction:
    seconds: Span
    near: float  # the time of the same ranks in one cluster
    waits: Waits
    learned: bool  # from measured waits

    @property
    def slowdown(self) -> Span:
        """The factor over the time of the same ranks in one cluster."""
        near = max(self.near, 1e-9)
        return Span(self.seconds.least / near, self.seconds.likely / near, self.seconds.most / near)

    @property
    def certainty(self) -> str:
        spread = self.seconds.most / self.seconds.least if self.seconds.least else 1.0
        if spread < 1.1 or (self.learned and spread < _SURE):
            return "fairly sure"
        return "a rough guess" if spread < 3 else "hardly more than a bound"


def predict(profile: Profile, scenario: Scenario) -> Prediction:
    """Ranks wait for the work of other clusters, too: the waits that distance cannot explain. These
    stay."""
    was = as_it_was(profile)
    before, after = waits(profile, was), waits(profile, scenario)
    measured = max((rank.wan for rank in profile.ranks), default=0.0)
    likely = before.all.likely
    learned = False
    if _are_long(was):
        possible = min(before.all.most * _ON_THE_WAY, max(0.0, profile.seconds - _work(profile)))
        explained = min(measured, possible)
        if measured >= _SEEN and likely > 0:
            how = explained / likely, max(0.0, explained - before.all.most)
            explained = before.scaled(*how).all.likely
            if scenario.is_like(profile):
                after = after.scaled(*how)
                learned = measured <= possible
    else:
        explained = min(measured, likely)
        after = after.guessed()
    near = max(0.0, profile.seconds - explained)
    return Prediction(seconds=after.all.after(near), near=near, waits=after, learned=learned)


def _work(profile: Profile) -> float:
    """The work of the rank that works most outside MPI. No link lessens it, and ranks that wait for
    that rank wait in every grid."""
    return max((rank.seconds - rank.mpi for rank in profile.ranks), default=0.0)


def _are_long(scenario: Scenario) -> bool:
    rtts = [wire.rtt for wire in scenario.wires.values() if not wire.assumed]
    return bool(rtts) and min(rtts) >= _LONG_RTT


def waits(profile: Profile, scenario: Scenario) -> Waits:
    link_bytes: dict[tuple[int, int], float] = {}
    crossing = list(_crossing(profile, scenario))
    collectives = _of_collectives(crossing, scenario, link_bytes)
    messages = _of_messages(profile, scenario, crossing, link_bytes)
    busiest = max(
        (count / scenario.wire(*ends).rate for ends, count in link_bytes.items()), default=0.0
    )
    return Waits(messages, collectives, busiest)


def _of_messages(
    profile: Profile,
    scenario: Scenario,
    crossing: Iterable[_Crossing],
    link_bytes: dict[tuple[int, int], float],
) -> Span:
    """A receiver is likely to wait one way for a message. Operations on windows count twice, as
    they are answered."""
    serial = 0.0
    home = scenario.home
    for times, rows in ((1, profile.pairs), (2, profile.windows)):
        for source, target, messages, count, _ in rows:
            if home.get(source, -1) == home.get(target, -1) or target not in home:
                continue
            ends = home[source], home[target]
            link_bytes[ends] = link_bytes.get(ends, 0.0) + count
            serial = max(serial, times * messages * scenario.wire(*ends).rtt / 2)
    meetings: dict[int, float] = {}
    for one in crossing:
        for cluster in one.homes:
            meetings[cluster] = meetings.get(cluster, 0.0) + one.operations
    most = chains.longest(profile, scenario, meetings)
    return Span(0.0, min(serial, most), most)


@dataclass(frozen=True)
class _Shape:
    """How a collective crosses. Ways: the least and greatest number of one-way times that a member
    waits, for two clusters. `bytes`: of the bytes that all members give, the share that goes one
    way over the link of two equal clusters; if all give the same vector, the bytes of one
    member."""

    least: float
    most: float
    vector: bool = False
    spread: bool = False  # an equal part to each other member
    rooted: bool = False  # some members do not wait for others


_SHAPES: Mapping[str, _Shape] = {
    "Barrier": _Shape(1, 2),
    "Bcast": _Shape(0, 1, vector=True, rooted=True),
    "Scatter": _Shape(0, 1, spread=True, rooted=True),
    "Scatterv": _Shape(0, 1, spread=True, rooted=True),
    "Gather": _Shape(0, 1, rooted=True),
    "Gatherv": _Shape(0, 1, rooted=True),
    "Reduce": _Shape(0, 1, vector=True, rooted=True),
    "Allreduce": _Shape(1, 2, vector=True),
    "Scan": _Shape(0.5, 2, vector=True),
    "Exscan": _Shape(0.5, 2, vector=True),
    "Reduce_scatter": _Shape(1, 2, vector=True),
    "Reduce_scatter_block": _Shape(1, 2, vector=True),
    "Allgather": _Shape(1, 2),
    "Allgatherv": _Shape(1, 2),
    "Alltoall": _Shape(1, 2, spread=True),
    "Alltoallv": _Shape(1, 2, spread=True),
    "Alltoallw": _Shape(1, 2, spread=True),
}


def plain_name(function: str) -> str:
    """MPI_Iallreduce_c, MPI_Allreduce_init -> Allreduce."""
    name = function.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
    if name[:1] == "I" and name[1:2].islower():
        name = name[1:].capitalize() if name[1:].capitalize() in _SHAPES else name
    return name


def _of_collectives(
    crossing: Sequence[_Crossing], scenario: Scenario, link_bytes: dict[tuple[int, int], float]
) -> Span:
    """Operations of one communicator are likely to follow each other. Those of different
    communicators are likely to run at the same time, unless a rank is in both. At most all follow
    each other."""
    known = estimates.seconds(each for one in crossing for _, each in one.problems)
    spans: dict[int, Span] = {}
    most = 0.0
    for one in crossing:
        span = one.span(known)
        most += span.most
        for rank in one.members:
            spans[rank] = spans.get(rank, Span(0, 0, 0)) + span
        _add_bytes(one.call, one.shape, one.members, scenario, link_bytes)
    slowest = max(spans.values(), key=lambda span: span.likely, default=Span(0, 0, 0))
    return Span(slowest.least, slowest.likely, most)


@dataclass(frozen=True)
class _Crossing:
    """A collective of a communicator that spans clusters."""

    call: Collective
    shape: _Shape
    members: list[int]
    homes: set[int]
    operations: float
    one_way: float  # seconds of all operations together
    problems: list[tuple[float, estimates.Problem]]  # with the operations of each

    def span(self, known: Mapping[estimates.Problem, float]) -> Span:
        """Likely is what the formulas say; half a way less if some members do not wait."""
        likely = sum(operations * known[problem] for operations, problem in self.problems)
        if self.shape.rooted:
            likely -= self.one_way / 2
        least = self.shape.least * self.one_way
        likely = max(least, likely)
        return Span(least, likely, max(likely, self.shape.most * self.one_way))


def _crossing(profile: Profile, scenario: Scenario) -> Iterator[_Crossing]:
    for call in profile.collectives:
        members = _members(profile, call)
        homes = {scenario.home[rank] for rank in members if rank in scenario.home}
        name = plain_name(call.function)
        shape = _SHAPES.get(name)
        if len(homes) < 2 or shape is None:
            continue
        wires = [scenario.wire(a, b) for a, b in combinations(sorted(homes), 2)]
        rtt, rate = max(wire.rtt for wire in wires), min(wire.rate for wire in wires)
        at = tuple(scenario.home[rank] for rank in members if rank in scenario.home)
        problems = [
            (times, estimates.Problem(estimates.KINDS[name], round(size), at, rtt, rate))
            for times, size in _sizes(call, name, len(members))
        ]
        operations = call.entered / len(members)
        yield _Crossing(call, shape, members, homes, operations, operations * rtt / 2, problems)


def _sizes(call: Collective, name: str, n: int) -> Iterator[tuple[float, float]]:
    """(operations, bytes of the problem). In a scatter members count only the call; in others each
    counts the bytes that it gives. A class of sizes counts as its middle."""
    if name.startswith("Scatter"):
        operations = call.entered / n
        yield operations, call.bytes / operations if operations else 0.0
        return
    middles = {int(key): 1.5 * 2 ** int(key) if int(key) >= 0 else 0.0 for key in call.sizes}
    guessed = sum(count * middles[int(key)] for key, count in call.sizes.items())
    blocks = n if "gather" in name.lower() else 1
    for key, count in call.sizes.items():
        size = middles[int(key)] * call.bytes / guessed if guessed else 0.0
        yield count / n, size * blocks


def _members(profile: Profile, call: Collective) -> list[int]:
    if call.communicator is None:  # beyond the limits of the profile: all ranks
        return list(range(profile.size))
    return profile.communicators[call.communicator].members()


def _add_bytes(
    call: Collective,
    shape: _Shape,
    members: Iterable[int],
    scenario: Scenario,
    link_bytes: dict[tuple[int, int], float],
) -> None:
    """For algorithms that cross once: the least that any needs."""
    counts: dict[int, int] = {}
    for rank in members:
        if rank in scenario.home:
            counts[scenario.home[rank]] = counts.get(scenario.home[rank], 0) + 1
    n = sum(counts.values())
    for (a, of_a), (b, of_b) in permutations(counts.items(), 2):
        count = call.bytes / n
        if shape.spread:
            count *= of_a * of_b / n
        elif not shape.vector:
            count *= of_a
        link_bytes[a, b] = link_bytes.get((a, b), 0.0) + count
