"""Collectives on communicators that span clusters: how they wait for links, and what they send over
them (docs/profile.md, "What if")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from isthmus.profile import estimates
from isthmus.profile.model import Profile
from isthmus.profile.ranktold import Collective
from isthmus.profile.scenario import Scenario
from isthmus.profile.span import Span


@dataclass(frozen=True)
class Shape:
    """How a collective crosses. Ways: the least and greatest number of one-way times that a member
    waits, for two clusters. `bytes`: of the bytes that all members give, the share that goes one
    way over the link of two equal clusters; if all give the same vector, the bytes of one
    member."""

    least: float
    most: float
    vector: bool = False
    spread: bool = False  # an equal part to each other member
    rooted: bool = False  # some members do not wait for others


SHAPES: Mapping[str, Shape] = {
    "barrier": Shape(1, 2),
    "bcast": Shape(0, 1, vector=True, rooted=True),
    "scatter": Shape(0, 1, spread=True, rooted=True),
    "gather": Shape(0, 1, rooted=True),
    "reduce": Shape(0, 1, vector=True, rooted=True),
    "allreduce": Shape(1, 2, vector=True),
    "scan": Shape(0.5, 2, vector=True),
    "exscan": Shape(0.5, 2, vector=True),
    "reduce_scatter": Shape(1, 2, vector=True),
    "allgather": Shape(1, 2),
    "alltoall": Shape(1, 2, spread=True),
}


def kind_of(function: str) -> str:
    """The name in SHAPES and in the formulas: MPI_Iallreduce_c and MPI_Allreduce_init are
    "allreduce", MPI_Alltoallw is "alltoall"."""
    name = function.removeprefix("MPI_").removesuffix("_c").removesuffix("_init").lower()
    name = re.sub("(?<=[lr])[vw]$|_block$", "", name)
    return name if name in SHAPES else name.removeprefix("i")


@dataclass(frozen=True)
class Crossing:
    """A collective of a communicator that spans clusters."""

    call: Collective
    shape: Shape
    members: list[int]
    homes: set[int]
    operations: float
    one_way: float  # seconds of all operations together
    problems: list[tuple[float, estimates.Problem]]  # with the operations of each

    def over(self, rtt: float, rate: float) -> Crossing:
        """The same over other links."""
        problems = [(times, replace(each, rtt=rtt, rate=rate)) for times, each in self.problems]
        return replace(self, one_way=self.operations * rtt / 2, problems=problems)

    def span(self, known: Mapping[estimates.Problem, float]) -> Span:
        """Likely is what the formulas say; half a way less if some members do not wait."""
        likely = sum(operations * known[problem] for operations, problem in self.problems)
        if self.shape.rooted:
            likely -= self.one_way / 2
        least = self.shape.least * self.one_way
        likely = max(least, likely)
        return Span(least, likely, max(likely, self.shape.most * self.one_way))


def crossings(profile: Profile, scenario: Scenario) -> Iterator[Crossing]:
    for call in profile.collectives:
        members = _members(profile, call)
        homes = {scenario.home[rank] for rank in members if rank in scenario.home}
        kind = kind_of(call.function)
        shape = SHAPES.get(kind)
        if len(homes) < 2 or shape is None:
            continue
        wires = [scenario.wire(a, b) for a, b in combinations(sorted(homes), 2)]
        rtt, rate = max(wire.rtt for wire in wires), min(wire.rate for wire in wires)
        at = tuple(scenario.home[rank] for rank in members if rank in scenario.home)
        problems = [
            (times, estimates.Problem(kind, round(size), at, rtt, rate))
            for times, size in _sizes(call, kind, len(members))
        ]
        operations = call.entered / len(members)
        yield Crossing(call, shape, members, homes, operations, operations * rtt / 2, problems)


def _sizes(call: Collective, kind: str, n: int) -> Iterator[tuple[float, float]]:
    """(operations, bytes of the problem). In a scatter members count only the call; in others each
    counts the bytes that it gives. A class of sizes counts as its middle."""
    if kind == "scatter":
        operations = call.entered / n
        yield operations, call.bytes / operations if operations else 0.0
        return
    middles = {int(key): 1.5 * 2 ** int(key) if int(key) >= 0 else 0.0 for key in call.sizes}
    guessed = sum(count * middles[int(key)] for key, count in call.sizes.items())
    blocks = n if "gather" in kind else 1
    for key, count in call.sizes.items():
        size = middles[int(key)] * call.bytes / guessed if guessed else 0.0
        yield count / n, size * blocks


def _members(profile: Profile, call: Collective) -> list[int]:
    if call.communicator is None:  # beyond the limits of the profile: all ranks
        return list(range(profile.size))
    return profile.communicators[call.communicator].members()


def add_bytes(
    call: Collective,
    shape: Shape,
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
