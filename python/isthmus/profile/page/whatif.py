"""The sliders: a table of predictions that Python makes and the page's script looks up. The page
therefore shows the figures of `isthmus profile show --link`."""

import json
from collections.abc import Sequence
from typing import Any

from isthmus.base.units import format_rate
from isthmus.profile.model import Profile
from isthmus.profile.replay import Prediction
from isthmus.profile.scenario import Scenario
from isthmus.profile.sweep import sweep
from isthmus.profile.verdict import bounds, factor, judgement

# The stops of the sliders: seconds, and bits a second.
_RTTS = [
    float(f"{digits}e{power}") for power in (-4, -3, -2, -1) for digits in (1, 1.5, 2, 3, 5, 7)
] + [1.0]
_RATES = [float(f"{digits}e{power}") for power in (7, 8, 9, 10) for digits in (1, 2, 5)] + [1e11]


def model(profile: Profile, scenario: Scenario) -> dict[str, Any]:
    """For JSON. `points` has a row for each round trip, with a point for each rate."""
    wires = scenario.used().values()
    rtt, rate = max(wire.rtt for wire in wires), 8 * min(wire.rate for wire in wires)
    rtts, rates = _with(_RTTS, rtt), _with(_RATES, rate)
    found = sweep(profile, scenario, rtts, [each / 8 for each in rates])
    judgements = list(dict.fromkeys(judgement(each.slowdown.likely) for each in found.values()))
    return {
        "profiled": profile.seconds,
        "rtts": [{"seconds": each, "text": f"{each * 1e3:.6g} ms"} for each in rtts],
        "rates": [{"text": _rate_text(each)} for each in rates],
        "start": [rtts.index(rtt), rates.index(rate)],
        "judgements": judgements,
        "points": [[_point(found[rtt, rate / 8], judgements) for rate in rates] for rtt in rtts],
    }


def _with(stops: Sequence[float], own: float) -> list[float]:
    """The scenario's own figure replaces a stop that is almost the same."""
    return sorted([*(each for each in stops if abs(each - own) > 1e-6 * own), own])


def _rate_text(rate: float) -> str:
    number, unit = format_rate(rate).split()
    return f"{float(number):.6g} {unit}"


def _point(prediction: Prediction, judgements: list[str]) -> dict[str, Any]:
    """`times` is the factor over one cluster."""
    span, waits = prediction.seconds, prediction.waits
    return {
        "seconds": [span.least, span.likely, span.most],
        "times": f"{factor(prediction.slowdown.likely)} "
        f"({bounds(prediction)}{prediction.certainty})",
        "judgement": judgements.index(judgement(prediction.slowdown.likely)),
        "waits": [waits.messages.likely, waits.collectives.likely, waits.bytes],
    }


def as_script_data(data: object) -> str:
    """JSON that cannot end the element that contains it."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
