"""Predicts the time of a program over other links, or with its ranks elsewhere, by a simple model
over the counts of its profile (docs/profile.md, "What if").

A profile knows how much was sent, not in which order, so there are three figures. The least one
waits only for bytes. The greatest one waits for everything that can form one chain (chains.py). The
likely one treats most messages from one rank to another as serial, and messages of different pairs
as concurrent. Measured waits may show something else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isthmus.profile import chains, estimates
from isthmus.profile.crossings import Crossing, add_bytes, crossings
from isthmus.profile.model import Profile
from isthmus.profile.scenario import Scenario, as_it_was
from isthmus.profile.span import Span

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
    return learn(profile).prediction(waits(profile, scenario), scenario.is_like(profile))


@dataclass(frozen=True)
class Lesson:
    """Facts about the profiled run that every prediction needs."""

    near: float  # the time of the same ranks in one cluster
    correction: tuple[float, float] | None  # arguments of Waits.scaled, from measured waits
    exact: bool  # links explain all measured waits
    guess: bool  # no link was long enough for a lesson

    def prediction(self, waits: Waits, alike: bool) -> Prediction:
        """`alike`: the ranks are together as they were."""
        learned = False
        if self.guess:
            waits = waits.guessed()
        elif self.correction and alike:
            waits = waits.scaled(*self.correction)
            learned = self.exact
        return Prediction(waits.all.after(self.near), self.near, waits, learned)


def learn(profile: Profile) -> Lesson:
    """Ranks wait for the work of other clusters, too. Distance cannot explain these waits, so they
    stay."""
    was = as_it_was(profile)
    before = waits(profile, was)
    measured = max((rank.wan for rank in profile.ranks), default=0.0)
    likely = before.all.likely
    correction = None
    exact = False
    guess = not _are_long(was)
    if guess:
        explained = min(measured, likely)
    else:
        possible = min(before.all.most * _ON_THE_WAY, max(0.0, profile.seconds - _work(profile)))
        explained = min(measured, possible)
        if measured >= _SEEN and likely > 0:
            correction = explained / likely, max(0.0, explained - before.all.most)
            explained = before.scaled(*correction).all.likely
            exact = measured <= possible
    return Lesson(max(0.0, profile.seconds - explained), correction, exact, guess)


def _work(profile: Profile) -> float:
    """The work of the rank that works most outside MPI. No link lessens it, and ranks that wait for
    that rank wait in every grid."""
    return max((rank.seconds - rank.mpi for rank in profile.ranks), default=0.0)


def _are_long(scenario: Scenario) -> bool:
    rtts = [wire.rtt for wire in scenario.wires.values() if not wire.assumed]
    return bool(rtts) and min(rtts) >= _LONG_RTT


def waits(profile: Profile, scenario: Scenario) -> Waits:
    link_bytes: dict[tuple[int, int], float] = {}
    crossing = list(crossings(profile, scenario))
    collectives = _of_collectives(crossing, scenario, link_bytes)
    messages = of_messages(profile, scenario, crossing, link_bytes)
    busiest = max(
        (count / scenario.wire(*ends).rate for ends, count in link_bytes.items()), default=0.0
    )
    return Waits(messages, collectives, busiest)


def of_messages(
    profile: Profile,
    scenario: Scenario,
    crossing: Iterable[Crossing],
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


def _of_collectives(
    crossing: Sequence[Crossing], scenario: Scenario, link_bytes: dict[tuple[int, int], float]
) -> Span:
    known = estimates.seconds(each for one in crossing for _, each in one.problems)
    for one in crossing:
        add_bytes(one.call, one.shape, one.members, scenario, link_bytes)
    return slowest([one.span(known) for one in crossing], shared(crossing))


def shared(crossing: Sequence[Crossing]) -> list[tuple[int, ...]]:
    """The sets of collectives that ranks take part in, as indices."""
    of_rank: dict[int, list[int]] = {}
    for index, one in enumerate(crossing):
        for rank in one.members:
            of_rank.setdefault(rank, []).append(index)
    return list(dict.fromkeys(map(tuple, of_rank.values())))


def slowest(spans: Sequence[Span], sets: Iterable[tuple[int, ...]]) -> Span:
    """Operations of one communicator are likely to follow each other. Operations of different
    communicators are likely to run at the same time, unless a rank is in both. At most all follow
    each other."""
    nothing = Span(0, 0, 0)
    sums = [sum((spans[index] for index in each), nothing) for each in sets]
    longest = max(sums, key=lambda span: span.likely, default=nothing)
    return Span(longest.least, longest.likely, sum(span.most for span in spans))
