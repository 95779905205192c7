"""Looks for the fewest steps of a plan that still fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from layouts import Layout
from playing import Outcome, Plan, over_grid

TRIES = 4  # of each: some failures need their moment


def smaller(plan: Plan, last: int) -> list[Plan]:
    """Returns plans, the smallest first: the last step alone, then it with ever more before it."""
    befores = [before for before in (0, 1, 3, 9) if before <= last]
    return [replace(plan, steps=f"{last - before}-{last}") for before in befores]


def shrunk(plan: Plan, layout: Layout, folder: Path, failed: Outcome) -> tuple[Plan, Outcome]:
    """The smallest plan that was seen to fail, and how; the given one where no smaller did."""
    for candidate in smaller(plan, failed.last_step):
        for _ in range(TRIES):
            outcome = over_grid(candidate, layout, folder)
            if not outcome:
                return candidate, outcome
    return plan, failed
