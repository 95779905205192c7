"""Waits for conditions, not for times."""

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

Done = TypeVar("Done")


def eventually(condition: Callable[[], object], what: str, limit: float = 60) -> None:
    """Waits until it is true; fails, saying what was awaited, when it never is."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {limit:g} s: {what}")
        time.sleep(0.02)


def with_enough_time(
    run: Callable[[float], Done], enough: Callable[[Done], object], seconds: float = 1
) -> Done:
    """Calls `run` with a limit, and again with four times that while too little has happened, as on
    a slow machine. Returns the last result."""
    for times in range(4):
        done = run(seconds * 4**times)
        if enough(done):
            break
    return done
