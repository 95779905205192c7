"""Times as users of batch systems write them."""

import re

from isthmus.base.errors import UsageError
from isthmus.base.units import parse_time

# Slurm: MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS, DAYS-HOURS:MINUTES and
# DAYS-HOURS:MINUTES:SECONDS; PBS: the first two.
_WITH_DAYS = re.compile(r"(\d+)-(\d+)(?::(\d+))?(?::(\d+))?")
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+)")
_FORMS = "Write it as 90min, 2h, 02:00:00 (hours first) or 1-12:00:00 (days first)."


def seconds_of(option: str, text: str | None) -> float | None:
    """UsageError for text that is not a time, and for a number without a unit: Slurm counts
    minutes, PBS seconds."""
    if text is None:
        return None
    if re.fullmatch(r"\d+(\.\d*)?", text):
        raise UsageError(
            f"{option} {text} has no unit: it means {text} minutes to Slurm, {text} seconds to PBS",
            f"Write {text}min or {text}s.",
        )
    seconds = _seconds(text.strip())
    if seconds <= 0:
        raise UsageError(f"{option} {text}: '{text}' is not a time", _FORMS)
    return seconds


def _seconds(text: str) -> float:
    """Returns 0 if it is not a time."""
    if found := _WITH_DAYS.fullmatch(text):
        days, hours, minutes, rest = (int(group or 0) for group in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + rest
    if found := _CLOCK.fullmatch(text):
        hours, minutes, rest = (int(group or 0) for group in found.groups())
        return (hours * 60 + minutes) * 60 + rest
    try:
        return parse_time(text)
    except ValueError:
        return 0
