"""Waits for conditions, not for times."""

import time
from collections.abc import Callable

import pytest


def eventually(condition: Callable[[], object], what: str, limit: float = 60) -> None:
    """Waits until it is true; fails, saying what was awaited, when it never is."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {limit:g} s: {what}")
        time.sleep(0.02)
