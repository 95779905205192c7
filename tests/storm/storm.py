"""`make storm` runs random legal MPI programs with new seeds over grids, for some minutes. It
prints how to repeat each failure, and if it fails natively too. build/storm keeps the output."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from pathlib import Path

import building
from layouts import BY_NAME, LAYOUTS, Layout
from playing import Outcome, Plan, natively, over_grid
from shrinking import shrunk

KEPT = building.ROOT / "build" / "storm"


def told(plan: Plan, layout: str, outcome: Outcome) -> Path:
    """Prints a failure, and saves its output. Returns the file."""
    KEPT.mkdir(parents=True, exist_ok=True)
    log = KEPT / f"{plan.seed}-{layout}.log"
    log.write_text(f"{outcome.command}\n\n{outcome.text}\n{outcome.what}\n")
    print(f"FAILED seed {plan.seed}, steps {plan.steps}, {layout}: {outcome.what}")
    print(f"  repeat: {outcome.command}\n  log: {log}", flush=True)
    return log


class Storm:
    def __init__(self, steps: str, kinds: str, layouts: list[Layout]) -> None:
        self.steps, self.kinds, self.layouts = steps, kinds, layouts
        self.plans = self.failures = self.illegal = 0

    def play(self, seed: int) -> None:
        """One plan over the next grid; natively as well if that fails."""
        plan = Plan(seed, self.steps, self.kinds)
        layout = self.layouts[self.plans % len(self.layouts)]
        self.plans += 1
        folder = KEPT / f"{seed}-{layout.name}"
        outcome = over_grid(plan, layout, folder)
        if outcome:
            return
        told(plan, layout.name, outcome)
        native = natively(plan, layout.size)
        if not native:
            self.illegal += 1
            told(plan, "natively", native)
            return
        self.failures += 1
        fewer, again = shrunk(plan, layout, folder, outcome)
        if fewer != plan:
            told(fewer, layout.name, again)

    def summary(self) -> str:
        return (
            f"{self.plans} plans over grids, {self.failures} failed, "
            f"{self.illegal} more failed natively too"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, help="the first of the seeds, which follow each other")
    parser.add_argument("--steps", default="40", help="how many, or FIRST-LAST")
    parser.add_argument("--kinds", default="", help="of steps: names with commas between")
    parser.add_argument("--layout", choices=BY_NAME, action="append", help="all without it")
    said = parser.parse_args()
    layouts = [BY_NAME[name] for name in said.layout] if said.layout else LAYOUTS
    for library in {library for layout in layouts for library in layout.libraries}:
        building.program(library)
    storm = Storm(said.steps, said.kinds, layouts)
    seed = said.seed if said.seed is not None else secrets.randbelow(10**9)
    end = time.monotonic() + 60 * said.minutes
    while time.monotonic() < end:
        storm.play(seed + storm.plans)
    print(storm.summary())
    sys.exit(1 if storm.failures or storm.illegal else 0)


if __name__ == "__main__":
    main()
