"""A fixed set of random plans over grids; `make storm` plays new ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import shrinking
import thresholds
from layouts import BY_NAME
from playing import Outcome, Plan, natively, over_grid

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
    (Plan(1, steps="10", kinds="files"), "mixed-gateways"),
    (Plan(2, steps="10", kinds="layouts,typed_collectives,topologies"), "openmpi-lent"),
    (Plan(4, steps="10", kinds="intercommunicators"), "three-mapped"),
    (Plan(3, steps="3", kinds="spawned,messages"), "mixed-gateways"),
]


# Natively a plan runs only where it has failed: the processes of a native run poll, and take a
# minute where there are more of them than processors (2026-11).
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("plan", "name"), [pytest.param(*case, id=f"{case[1]}-{case[0].seed}") for case in PLANS]
)
def test_a_random_plan(tmp_path: Path, plan: Plan, name: str) -> None:
    layout = BY_NAME[name]
    outcome = over_grid(plan, layout, tmp_path)
    if not outcome:
        native = natively(plan, layout.size)
        pytest.fail(
            f"{outcome.what}\nnatively: {native.what}\nrepeat: {outcome.command}\n{outcome.text}"
        )


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "kind", ["layouts", "typed_collectives", "intercommunicators", "topologies", "files"]
)
def test_wrong_contents_are_found(tmp_path: Path, kind: str) -> None:
    outcome = over_grid(Plan(1, "1", kind, plant=0), BY_NAME["openmpi"], tmp_path)
    assert outcome.what.startswith("WRONG seed 1 step 0"), outcome.text
    assert re.search(" should be | nobody", outcome.what)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["layouts", "typed_collectives"])
def test_a_changed_gap_is_found(tmp_path: Path, kind: str) -> None:
    outcome = over_grid(Plan(1, "1", kind, plant_gap=0), BY_NAME["one-each"], tmp_path)
    assert "has changed a gap" in outcome.what, outcome.text


@pytest.mark.timeout(300)
def test_a_failure_shrinks_to_its_step(tmp_path: Path) -> None:
    plan, layout = Plan(1, "5", "layouts", plant=3), BY_NAME["one-each"]
    failed = over_grid(plan, layout, tmp_path)
    assert not failed
    fewer, again = shrinking.shrunk(plan, layout, tmp_path, failed)
    assert fewer.steps == "3-3"
    assert again.what.startswith("WRONG seed 1 step 3"), again.text


def test_a_failure_keeps_the_steps_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def needs_step_6(plan: Plan, *_: object) -> Outcome:
        first, last = map(int, plan.steps.split("-"))
        return Outcome(first > 6, "", "", "", last)

    monkeypatch.setattr(shrinking, "over_grid", needs_step_6)
    layout, failed = BY_NAME["one-each"], Outcome(False, "", "", "", 8)
    assert shrinking.shrunk(Plan(1), layout, tmp_path, failed)[0].steps == "5-8"


def test_a_failure_that_does_not_return_keeps_its_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrinking, "over_grid", lambda *_: Outcome(True, "", "", "", 8))
    plan, failed = Plan(1), Outcome(False, "", "", "", 8)
    assert shrinking.shrunk(plan, BY_NAME["one-each"], tmp_path, failed) == (plan, failed)


def test_sizes_are_drawn_around_the_constants_of_the_sources() -> None:
    found = thresholds.thresholds()
    assert found["net/endpoint/endpoint_io.cpp: kLendFrom"] == 32 << 10
    assert found["core/world/limits.hpp: kGathered"] == 16 << 10
    assert found["core/wire/frame.hpp: kMaxBody"] == 64 * 1024 + 64
    assert found["net/endpoint/direct.cpp: kLargestRing"] == 512 << 10
