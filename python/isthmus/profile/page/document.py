"""Fills the page."""

from pathlib import Path
from string import Template

from isthmus.profile import verdict
from isthmus.profile.model import Profile
from isthmus.profile.page import matrix, tables, whatif
from isthmus.profile.replay import Prediction
from isthmus.profile.scenario import Scenario
from isthmus.version import VERSION
from isthmus.webpage import frame
from isthmus.webpage.markup import Html, html, paragraphs


def document(profile: Profile, scenario: Scenario, prediction: Prediction | None) -> str:
    program = " : ".join(" ".join(words) for words in profile.program)
    crosses = prediction is not None and len(scenario.used()) > 0
    script = _shipped("page.js") if crosses else ""
    body = Template(_shipped("page.html")).substitute(
        program=html(program),
        run=paragraphs(_run(profile)),
        verdict=paragraphs(verdict.verdict(scenario, prediction)),
        assumptions=_assumptions(profile, scenario),
        times=tables.times(profile),
        waits=paragraphs(_waits(profile)),
        calls=tables.calls(profile),
        matrix=matrix.matrix(profile),
        traffic=tables.traffic(profile),
        collectives=tables.collectives(profile) if profile.collectives else "",
        whatif=_what_if(profile, scenario, script) if crosses else "",
        command=html(" ".join(profile.command)),
        version=html(VERSION),
    )
    return frame.framed(f"{program} - profile", body, script)


def _run(profile: Profile) -> list[str]:
    clusters = ", ".join(f"{each.name} {each.ranks}" for each in profile.grid.clusters)
    ranks = f"{profile.size} rank{'s' if profile.size != 1 else ''}"
    lines = [f"{ranks} ({clusters}), {profile.seconds:.3f} s in MPI's world"]
    if profile.status:
        lines.append(f"The run ended with status {profile.status}.")
    if lacks := profile.lacks():
        lines.append(f"Incomplete: {lacks}, so their messages are missing here.")
    return lines


def _assumptions(profile: Profile, scenario: Scenario) -> Html:
    lines = verdict.assumptions(scenario, profile.size)
    return Html("\n".join(f"<li>{html(line)}</li>" for line in lines))


def _waits(profile: Profile) -> list[str]:
    if any(rank.wan for rank in profile.ranks):
        return []
    return ["No rank was seen waiting for another cluster. The order is by all time in the call."]


def _what_if(profile: Profile, scenario: Scenario, script: str) -> str:
    figures = {(wire.rtt, wire.rate) for wire in scenario.used().values()}
    note = (
        ""
        if len(figures) == 1
        else "The links differ. The sliders give all of them the same figures, and start at the "
        "longest round trip and the lowest rate."
    )
    return Template(_shipped("whatif.html")).substitute(
        note=paragraphs(filter(None, [note])),
        model=whatif.as_script_data(whatif.model(profile, scenario)),
        script=script,
    )


def _shipped(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
