"""Predictions for many links at once, all equal between all clusters: as `--link` for each of
them, but the profile is read once."""

from collections.abc import Sequence
from itertools import combinations, product

from isthmus.profile import estimates, replay
from isthmus.profile.crossings import add_bytes, crossings
from isthmus.profile.model import Profile
from isthmus.profile.replay import Prediction, Waits
from isthmus.profile.scenario import Scenario, Wire
from isthmus.profile.span import Span


def sweep(
    profile: Profile, scenario: Scenario, rtts: Sequence[float], rates: Sequence[float]
) -> dict[tuple[float, float], Prediction]:
    """The keys are round trip (seconds) and rate (bytes a second). The profile must be complete."""
    lesson, alike = replay.learn(profile), scenario.is_like(profile)
    pairs = combinations(range(len(scenario.names)), 2)
    # A second and a byte a second: waits for messages and bytes are proportional to the figures.
    unit = Scenario(scenario.names, scenario.home, dict.fromkeys(pairs, Wire(1.0, 1.0)))
    crossing = list(crossings(profile, unit))
    link_bytes: dict[tuple[int, int], float] = {}
    for one in crossing:
        add_bytes(one.call, one.shape, one.members, unit, link_bytes)
    messages = replay.of_messages(profile, unit, crossing, link_bytes)
    busiest = max(link_bytes.values(), default=0.0)
    sets = replay.shared(crossing)
    moved = {ends: [one.over(*ends) for one in crossing] for ends in product(rtts, rates)}
    known = estimates.seconds(
        each for every in moved.values() for one in every for _, each in one.problems
    )
    return {
        (rtt, rate): lesson.prediction(
            Waits(
                Span(messages.least * rtt, messages.likely * rtt, messages.most * rtt),
                replay.slowest([one.span(known) for one in every], sets),
                busiest / rate,
            ),
            alike,
        )
        for (rtt, rate), every in moved.items()
    }
