"""The commands `isthmus lab ...` for WAN links of a running lab."""

from json import dumps
from typing import Annotated

import typer
from rich.table import Table

from isthmus.base import completing
from isthmus.base.errors import RunError, UsageError, listing
from isthmus.base.options import AsJson
from isthmus.base.tables import console
from isthmus_lab.lab import linksettings as settings
from isthmus_lab.lab import registry, testbed, wan
from isthmus_lab.lab import traffic as traffics
from isthmus_lab.lab.network import Network, work_out
from isthmus_lab.lab.registry import Lab

LabId = Annotated[
    str | None,
    typer.Option(
        "--lab",
        metavar="ID",
        help="Which lab. Commands that change one, or run in one, need it outside of labs.",
        autocompletion=completing.place("isthmus_lab.lab.registry:names"),
    ),
]
LinkName = Annotated[
    str,
    typer.Argument(
        metavar="LINK",
        help="A WAN link: a-b; one direction: 'a>b'; all: 'all'.",
        autocompletion=completing.given(lambda params: _names(params.get("lab"))),
    ),
]


def model_of(lab: Lab) -> Network:
    facts = lab.facts()
    if "model" not in facts:
        raise RunError(f"lab {lab.id} is being built or taken down")
    return work_out(str(facts["testbed"]), testbed.Testbed.model_validate(facts["model"]))


def _names(lab: str | None) -> list[str]:
    return [*(link.name for link in model_of(registry.find(lab)).boxes), "all"]


def _change(did: str, lab: str | None, link: str, to: dict[str, object]) -> None:
    """`did` says it in a word, for the user."""
    found = registry.find(lab, to_change=True)
    for name, way in ways_of(model_of(found), link):
        wan.ask(found, name, op="set", link={way: to})
    print(f"{did} {link if link != 'all' else 'all links'} of {found.id}")


def ways_of(network: Network, text: str) -> list[tuple[str, str]]:
    """The links that are meant, and which of their directions."""
    if text == "all":
        return [(link.name, "both") for link in network.boxes]
    for sign in (">", "-"):
        for link in network.boxes:
            if text == f"{link.a}{sign}{link.b}":
                return [(link.name, "ab" if sign == ">" else "both")]
            if text == f"{link.b}{sign}{link.a}":
                return [(link.name, "ba" if sign == ">" else "both")]
    for link in network.links:
        ways = {f"{x}{sign}{y}" for x, y in ((link.a, link.b), (link.b, link.a)) for sign in "->"}
        if not link.box and text in ways:
            what = f"{link.name} is a plain wire, without a WAN box that could change it"
            raise UsageError(what, "Use a testbed whose [[wan]] has no `box = false`.")
    known = listing(link.name for link in network.boxes) or "none"
    raise UsageError(f"unknown WAN link '{text}'; the lab's links: {known}")


def cut(link: LinkName, lab: LabId = None) -> None:
    """Cut a WAN link. Data on it is lost, and nothing passes until it is restored."""
    _change("cut", lab, link, {"up": False})


def restore(link: LinkName, lab: LabId = None) -> None:
    """Restore a WAN link that was cut."""
    _change("restored", lab, link, {"up": True})


def set_(
    link: LinkName,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE...",
            help="delay='10 ms' rate='1 Gbit/s' (or none) queue='2 MB' (or none) loss=0.1% "
            "jitter='1 ms' reorder=yes duplicate=1% corrupt='1 MB' (a wrong byte in each, or "
            "never)",
            show_default=False,
        ),
    ],
    lab: LabId = None,
) -> None:
    """Change a WAN link of a running lab."""
    _change(f"set {', '.join(values)} on", lab, link, settings.parse(values))


def stats(lab: LabId = None, json: AsJson = False) -> None:
    """Show the counters of the WAN links of a running lab."""
    found = registry.find(lab)
    states = {link.name: wan.ask(found, link.name, op="get") for link in model_of(found).boxes}
    if json:
        print(dumps(states))
        return
    table = Table(
        "link", "packets", "segments", "bytes", "dropped", "queue", "late (mean, maximum)"
    )
    for name, state in states.items():
        a, _, b = name.partition("-")
        for way, title in (("ab", f"{a}>{b}"), ("ba", f"{b}>{a}")):
            part = state[way]
            counters, late = part["counters"], part["late"]
            drops = {k.removeprefix("dropped_"): v for k, v in counters.items() if "dropped" in k}
            table.add_row(
                title if part["settings"]["up"] else f"{title} (cut)",
                str(counters["packets"]),
                str(counters["segments"]),
                str(counters["bytes"]),
                ", ".join(f"{v} {k}" for k, v in drops.items() if v) or "0",
                str(part["backlog"]),
                f"{1e6 * late['mean']:.0f} us, {1e6 * late['most']:.0f} us",
            )
    console().print(table)


def traffic(
    link: LinkName = "all",
    lab: LabId = None,
) -> None:
    """Print the traffic of the WAN links of a running lab, by milliseconds, as CSV.

    The columns are the direction, the milliseconds since the first, bytes on the wire, and dropped
    segments. Empty milliseconds are left out. A box remembers the last 65,536 of each direction."""
    found = registry.find(lab)
    network = model_of(found)
    meant = set(ways_of(network, link))
    rows = [
        (way.name, row)
        for way in traffics.ways(network)
        if {(way.link, way.key), (way.link, "both")} & meant
        for row in traffics.since(found, way)
    ]
    first = min((row[0] for _, row in rows), default=0)
    print("way,milliseconds,bytes,dropped")
    for name, (at, sent, dropped) in rows:
        print(f"{name},{at - first},{sent},{dropped}")
