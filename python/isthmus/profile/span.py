"""A figure between its bounds."""

from __future__ import annotations

from dataclasses import dataclass


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
