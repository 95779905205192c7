"""Whether a program suits a grid, in words."""

from collections.abc import Iterator

from isthmus.base.units import format_rate
from isthmus.profile.replay import Prediction
from isthmus.profile.scenario import USUAL_RATE, USUAL_RTT, Scenario, Wire

# Hablot et al. call a program fit for a grid if two sites of n/2 ranks take little longer than one
# site of n. A second site pays if both together are faster than one site of n/2.
_FIT, _PAYS = 1.1, 2.0
# Beyond this, the time in one cluster is too short to be measured.
_MANY = 100


def verdict(scenario: Scenario, prediction: Prediction | None) -> Iterator[str]:
    """Sentences. Without a prediction, some ranks have not reported their messages."""
    if prediction is None:
        yield "The time over these clusters is unknown, because the profile is incomplete."
        return
    if len(set(scenario.home.values())) < 2:
        yield "All ranks are in one cluster: nothing crosses. Place them by --grid or --place."
        return
    times = prediction.slowdown
    yield (
        f"Over these clusters it takes {factor(times.likely)} times as long as the same ranks in "
        f"one cluster ({bounds(prediction)}{prediction.certainty})."
    )
    yield judgement(times.likely)
    yield _why(prediction)
    used = scenario.used().values()
    taken = [
        text
        for text, assumed in (
            (f"{USUAL_RTT * 1e3:g} ms both ways", any(wire.rtt_assumed for wire in used)),
            (format_rate(8 * USUAL_RATE), any(wire.rate_assumed for wire in used)),
        )
        if assumed
    ]
    if taken:
        yield (
            f"Unknown figures of links were assumed: {' and '.join(taken)}. --link gives better."
        )
    if prediction.learned:
        yield "These figures include the measured waits."


def factor(times: float) -> str:
    return f"about {_short(times)}" if times <= _MANY else f"more than {_MANY}"


def bounds(prediction: Prediction) -> str:
    """The bounds of the factor; empty for a factor without meaning."""
    times = prediction.slowdown
    if times.likely > _MANY:
        return ""
    return f"{_short(times.least)} to {_short(times.most)}; "


def judgement(times: float) -> str:
    if times <= _FIT:
        return (
            "It suits a grid if more ranks make it faster in one cluster. The profile of one run "
            "cannot show that."
        )
    if times <= _PAYS:
        return (
            "A second site can pay if its ranks are additional. It does not pay if one site has "
            "the same number of ranks."
        )
    return "It does not suit this grid: half of the ranks on one site are likely to be faster."


def _short(times: float) -> str:
    """As exact as the model: two digits, three just above 1."""
    return f"{times:.2f}" if times < 2 else f"{float(f'{times:.2g}'):g}"


def _why(prediction: Prediction) -> str:
    waits = prediction.waits
    parts = {
        f"messages between clusters wait {waits.messages.likely:.3g} s": waits.messages.likely,
        f"collectives wait {waits.collectives.likely:.3g} s": waits.collectives.likely,
        f"the busiest link needs {waits.bytes:.3g} s for all bytes": waits.bytes,
    }
    told = sorted((text for text in parts if parts[text] > 0), key=lambda text: -parts[text])
    return f"On the slowest rank, {', '.join(told)}." if told else "Nothing crosses."


def assumptions(scenario: Scenario, size: int) -> Iterator[str]:
    """The places of the `size` ranks, and the links."""
    for index, name in enumerate(scenario.names):
        count = sum(home == index for home in scenario.home.values())
        yield f"{name}: {count} rank{'s' if count != 1 else ''}"
    if unknown := size - len(scenario.home):
        yield f"the cluster of {unknown} rank{'s' if unknown != 1 else ''} is unknown"
    for (a, b), wire in sorted(scenario.wires.items()):
        yield (
            f"{scenario.names[a]} - {scenario.names[b]}: {wire.rtt * 1e3:.3g} ms both ways, "
            f"{format_rate(8 * wire.rate)}{_assumed(wire)}"
        )


def _assumed(wire: Wire) -> str:
    if wire.rtt_assumed == wire.rate_assumed:
        return " (assumed)" if wire.assumed else ""
    return f" ({'time' if wire.rtt_assumed else 'rate'} assumed)"
