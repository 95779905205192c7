"""The longest chain of messages between clusters that a profile's sums allow.

A message adds its time on the network to a run where something waits for it. At worst each message
waits for the one before, on whatever ranks. The chain is in one place at a time: it can enter a
cluster again only after leaving it. So messages that go one way only, without an answer, form no
chain."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from isthmus.profile.model import Pair, Profile
from isthmus.profile.scenario import Scenario

Crossing = tuple[float, float]  # seconds of one crossing, number of crossings


def longest(profile: Profile, scenario: Scenario, meetings: Mapping[int, float]) -> float:
    """Returns seconds. `meetings`: by cluster, the collectives by which the chain may leave or
    enter it. An operation on a window goes there and back."""
    entries: dict[int, list[Crossing]] = defaultdict(list)
    exits: dict[int, list[Crossing]] = defaultdict(list)
    other: dict[int, float] = defaultdict(float, meetings)
    seconds = 0.0
    for a, b, operations in _crossing(profile.windows, scenario.home):
        seconds += operations * scenario.wire(a, b).rtt
        other[a] += operations
        other[b] += operations
    answered = _synchronous(profile)
    for a, b, messages in _crossing(profile.pairs, scenario.home):
        way = scenario.wire(a, b).rtt / 2
        if answered:
            seconds += 2 * messages * way
        entries[b].append((way, messages))
        exits[a].append((way, messages))
    if answered:
        return seconds
    return seconds + min(_most(entries, exits, other), _most(exits, entries, other))


def _crossing(rows: Iterable[Pair], home: Mapping[int, int]) -> Iterable[tuple[int, int, int]]:
    for source, target, count, *_ in rows:
        if source in home and target in home and home[source] != home[target]:
            yield home[source], home[target], count


def _synchronous(profile: Profile) -> bool:
    """Sends that wait for an answer which is not a message of the program."""
    return any("ssend" in call.lower() for rank in profile.ranks for call in rank.calls)


def _most(
    ways: Mapping[int, list[Crossing]],
    back: Mapping[int, list[Crossing]],
    other: Mapping[int, float],
) -> float:
    """The costliest crossings of each cluster: one more than those that lead back."""
    total = 0.0
    for cluster, crossings in ways.items():
        left = 1 + other.get(cluster, 0.0) + sum(count for _, count in back.get(cluster, ()))
        for seconds, count in sorted(crossings, reverse=True):
            taken = min(left, count)
            total += taken * seconds
            left -= taken
    return total
