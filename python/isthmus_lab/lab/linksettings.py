"""The settings of a WAN link that can change while it runs, as on the command line."""

from collections.abc import Callable, Sequence
from typing import Any

from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.base.units import parse_rate, parse_size, parse_time


def _delay(text: str) -> float:
    return parse_time(text)


def _rate(text: str) -> int:
    return 0 if text == "none" else parse_rate(text)


def _between(text: str) -> int:
    return 0 if text == "never" else parse_size(text)


def _queue(text: str) -> int:
    return 0 if text == "none" else parse_size(text)


def _loss(text: str) -> float:
    value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= value <= 1:
        raise ValueError(f"must be a probability such as '0.001' or '0.1%'; it is '{text}'")
    return value


def _reorder(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(f"must be yes or no; it is '{text}'")
    return text == "yes"


_SETTINGS: dict[str, Callable[[str], Any]] = {
    "delay": _delay,
    "rate": _rate,
    "queue": _queue,
    "loss": _loss,
    "duplicate": _loss,
    "corrupt": _between,
    "jitter": _delay,
    "reorder": _reorder,
}


def parse(values: Sequence[str]) -> dict[str, object]:
    """Reads words such as "delay=10 ms" into seconds, bits per second, bytes. UsageError."""
    settings: dict[str, object] = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals or key not in _SETTINGS:
            near = did_you_mean(key, _SETTINGS)
            raise UsageError(
                f"'{text}' is not a KEY=VALUE of a link{near}; keys are {listing(_SETTINGS)}"
            )
        try:
            settings[key] = _SETTINGS[key](value)
        except ValueError as error:
            said = str(error) if "must be" in str(error) else f"has a wrong value: '{value}'"
            raise UsageError(f"{key} {said}") from None
    return settings
