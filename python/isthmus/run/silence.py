"""Messages about silent links. Both ends report silence, as long as they are reached."""

from dataclasses import dataclass, field

from isthmus.base.units import format_time
from isthmus.place.plan import Plan
from isthmus.run.agent import Message


@dataclass
class Silences:
    """`told` has the seconds of silence that were last reported, by link."""

    plan: Plan
    told: dict[frozenset[int], float] = field(default_factory=dict)

    def sentence(self, message: Message) -> str:
        """The sentence for an agent's `silence`; empty if the other end has reported the same."""
        ends = message.get("from"), message.get("to")
        seconds, patience = message.get("seconds"), message.get("patience")
        if not all(isinstance(end, int) for end in ends):
            return ""
        if not isinstance(seconds, (int, float)) or not isinstance(patience, (int, float)):
            return ""
        link = frozenset(int(end) for end in ends if end is not None)
        name = " - ".join(self.plan.gateway_name(node) for node in sorted(link))
        before = self.told.get(link, 0.0)
        if message.get("over"):
            self.told.pop(link, None)
            return f"link {name}: heard again after {seconds:.0f} s" if before else ""
        if seconds < 1.5 * before:
            return ""
        self.told[link] = seconds
        return (
            f"link {name}: silent for {seconds:.0f} s, waiting (patience {format_time(patience)})"
        )
