"""Limits for the steps of a run, in seconds."""

import math
import os
from dataclasses import dataclass, field

from isthmus.base.errors import UsageError

_MAX_SECONDS = 1e9


def _from_environment(name: str, default: float) -> float:
    seconds = _said(name, f"{default:g}")
    return default if seconds is None else seconds


def _said(name: str, such_as: str) -> float | None:
    text = os.environ.get(name)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _MAX_SECONDS:
        raise UsageError(
            f"{name} must be a number of seconds; it is '{text}'",
            f"Unset it, or set it as in {name}={such_as}.",
        )
    return seconds


@dataclass(frozen=True)
class Limits:
    """Seconds. `start` includes ssh, and the time in which somebody may type a passphrase. `late`
    is when the user first hears which ranks are missing. `grace` is the time for clusters to end by
    themselves after one has failed, if the user gives it. A host may be starved or stand still
    meanwhile: 20 s did not suffice to open two gateways (2026-11)."""

    start: float = field(default_factory=lambda: _from_environment("ISTHMUS_START_TIMEOUT", 60))
    configure: float = 60
    stage: float = 600
    inspect: float = 60
    link: float = 60
    spawn: float = 60
    late: float = 10
    grace: float | None = field(default_factory=lambda: _said("ISTHMUS_GRACE", "3"))
    kill: float = 8
    close: float = 5
