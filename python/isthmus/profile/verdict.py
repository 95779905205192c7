"""Whether a program suits a grid, in words."""

from collections.abc import Iterator

from isthmus.profile.replay import Prediction
from isthmus.profile.scenario import USUAL_RATE, USUAL_RTT, Scenario, Wire
from isthmus.units import format_rate

# Hablot et al. call a program fit for a grid where two sites of n/2 ranks take little longer than
# one site of n, and a second site worth having where they are faster than one site of n/2.
_FIT, _PAYS = 1.1, 2.0
# Beyond, what one cluster takes is too little to be measured.
_MANY = 100


def verdict(scenario: Scenario, prediction: Prediction | None) -> Iterator[str]:
    """Sentences. No prediction: of some ranks it is not known what they sent."""
    if prediction is None:
        yield "What it would take over these clusters is not known, since the profile is not whole."
        return
    if len(set(scenario.home.values())) < 2:
        yield "All ranks are in one cluster: nothing crosses. --grid or --place say where else."
        return
    times = prediction.slowdown
    yield (
        f"Over these clusters it takes some {_short(times.likely)} times what the same ranks take "
        f"in one cluster ({_short(times.least)} to {_short(times.most)}; {prediction.certainty})."
        if times.likely <= _MANY
        else f"Over these clusters it takes more than {_MANY} times what the same ranks take in "
        f"one cluster ({prediction.certainty})."
    )
    if times.likely <= _FIT:
        yield (
            "It suits a grid, if more ranks make it faster in one cluster: the profile of one run "
            "does not show that."
        )
    elif times.likely <= _PAYS:
        yield (
            "It bears a grid: a second site pays where its ranks come on top, and does not where "
            "one site has as many."
        )
    else:
        yield "It does not suit this grid: half the ranks on one site are likely to be faster."
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
            f"What nobody has said of a link was taken for {' and '.join(taken)}: --link says "
            "better."
        )
    if prediction.learned:
        yield "The waits that were measured are in these figures."


def _short(times: float) -> str:
    """As exact as a model is: two digits, three just above 1."""
    return f"{times:.2f}" if times < 2 else f"{float(f'{times:.2g}'):g}"


def _why(prediction: Prediction) -> str:
    waits = prediction.waits
    parts = {
        f"messages between clusters wait {waits.messages.likely:.3g} s": waits.messages.likely,
        f"collectives wait {waits.collectives.likely:.3g} s": waits.collectives.likely,
        f"the busiest link needs {waits.bytes:.3g} s for all bytes": waits.bytes,
    }
    told = sorted((text for text in parts if parts[text] > 0), key=lambda text: -parts[text])
    return f"Of the slowest rank, {', '.join(told)}." if told else "Nothing crosses."


def assumptions(scenario: Scenario, size: int) -> Iterator[str]:
    """Where the `size` ranks are, and the links."""
    for index, name in enumerate(scenario.names):
        count = sum(home == index for home in scenario.home.values())
        yield f"{name}: {count} rank{'s' if count != 1 else ''}"
    if unknown := size - len(scenario.home):
        yield f"where {unknown} rank{'s were' if unknown != 1 else ' was'} is not known"
    for (a, b), wire in sorted(scenario.wires.items()):
        yield (
            f"{scenario.names[a]} - {scenario.names[b]}: {wire.rtt * 1e3:.3g} ms both ways, "
            f"{format_rate(8 * wire.rate)}{_assumed(wire)}"
        )


def _assumed(wire: Wire) -> str:
    if wire.rtt_assumed == wire.rate_assumed:
        return " (assumed)" if wire.assumed else ""
    return f" ({'time' if wire.rtt_assumed else 'rate'} assumed)"
