"""The traffic of a lab's WAN links by milliseconds, as their boxes remember it."""

from dataclasses import dataclass

from isthmus_lab.lab import wan
from isthmus_lab.lab.network import Network
from isthmus_lab.lab.registry import Lab

# Milliseconds of the boxes' clock, bytes on the wire, segments dropped.
Row = tuple[int, int, int]


@dataclass(frozen=True)
class Way:
    """One direction of a link: `name` is "a>b"; `link` and `key` are the box's words."""

    link: str
    key: str
    name: str


def ways(network: Network) -> list[Way]:
    return [
        Way(link.name, key, name)
        for link in network.boxes
        for key, name in (("ab", f"{link.a}>{link.b}"), ("ba", f"{link.b}>{link.a}"))
    ]


def now(lab: Lab, way: Way) -> int:
    """Milliseconds of the box's clock. RunError if the box does not answer."""
    return int(wan.ask(lab, way.link, op="traffic", way=way.key, since=1 << 62)["now"])


def since(lab: Lab, way: Way, first: int = 0) -> list[Row]:
    """The milliseconds from `first` to now with any traffic; boxes remember 65,536 of them.
    RunError if the box does not answer."""
    found: list[Row] = []
    end: int | None = None
    while True:
        answer = wan.ask(lab, way.link, op="traffic", way=way.key, since=first)
        end = int(answer["now"]) if end is None else end
        rows = [(int(at), int(sent), int(lost)) for at, sent, lost in answer["milliseconds"]]
        found += [row for row in rows if row[0] <= end]
        if not rows or rows[-1][0] >= end:
            return found
        first = rows[-1][0] + 1
