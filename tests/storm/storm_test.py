"""A fixed set of random plans, each natively and then over a grid; `make storm` plays new ones."""

from __future__ import annotations

from pathlib import Path

import pytest
import thresholds
from layouts import BY_NAME
from playing import Plan, natively, over_grid

# A seed of its own for each grid, so that more plans are played.
PLANS = [
    (Plan(1), "openmpi"),
    (Plan(2), "mpich"),
    (Plan(3), "mixed-gateways"),
    (Plan(4), "three-uneven"),
    (Plan(5), "mixed-sockets"),
    (Plan(6), "mpich-direct"),
    (Plan(7), "three-mapped"),
    (Plan(8, kinds="windows"), "mpich"),
    (Plan(9, kinds="windows"), "openmpi"),
    (Plan(5, steps="2", kinds="many_gets"), "one-each"),
]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("plan", "name"), [pytest.param(*case, id=f"{case[1]}-{case[0].seed}") for case in PLANS]
)
def test_a_random_plan(tmp_path: Path, plan: Plan, name: str) -> None:
    layout = BY_NAME[name]
    native = natively(plan, layout.size)
    assert native, f"the plan fails natively: {native.command}\n{native.text}"
    outcome = over_grid(plan, layout, tmp_path)
    assert outcome, f"{outcome.what}\nrepeat: {outcome.command}\n{outcome.text}"


def test_sizes_are_drawn_around_the_constants_of_the_sources() -> None:
    found = thresholds.thresholds()
    assert found["net/endpoint_io.cpp: kLendFrom"] == 32 << 10
    assert found["core/limits.hpp: kGathered"] == 16 << 10
    assert found["core/frame.hpp: kMaxBody"] == 64 * 1024 + 64
    assert found["net/direct.cpp: kLargestRing"] == 512 << 10
