"""Operations in progress against blocking calls, at random. This takes a minute with all libraries
and pairs, else some seconds with one pair."""

from __future__ import annotations

import mpis
import pytest
from programs_test import MIXED, SINGLE

PROGRAM = mpis.PROGRAMS / "progress" / "random.c"
SHORT, LONG = 150, 2000  # rounds


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = metafunc.config.getoption("--all-libraries")
    chosen = [(pair, LONG) for pair in SINGLE + MIXED] if every else [(MIXED[1], SHORT)]
    metafunc.parametrize(
        ("pair", "rounds"), [pytest.param(*c, id=f"{'+'.join(c[0])}-{c[1]}") for c in chosen]
    )


@pytest.mark.timeout(600)
def test_progress_at_random(isthmus, programs, pair, rounds):
    east, west = (mpis.ALL[name].build(PROGRAM, programs) for name in pair)
    words = ["--on", "east", "-n", 4, east, rounds, ":", "--on", "west", "-n", 4, west, rounds]
    done = isthmus.well("run", *words, timeout=550)
    assert f"passed {rounds} rounds" in done.stdout
