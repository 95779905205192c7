"""The commands `isthmus profile ...`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from isthmus.base.commandline import Application
from isthmus.base.options import grid_option
from isthmus.profile import figure, model, replay, report, scenario, summary, verdict
from isthmus.profile.model import Profile
from isthmus.profile.page import document
from isthmus.profile.replay import Prediction
from isthmus.profile.scenario import Scenario
from isthmus.webpage import frame

profile_app = Application(
    name="profile",
    help="Show what a program sends to whom, from a file of `isthmus run --profile`.",
)


@profile_app.callback()
def _group() -> None:
    pass


@profile_app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The profile.", show_default=False)],
    grid: Annotated[
        Path | None,
        grid_option(
            "Predict a run in this grid, over its links.",
        ),
    ] = None,
    place: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=RANKS,...",
            help="Predict a run with ranks in these clusters, as in 'east=0-3,6,west=4-5,7'.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="rtt=TIME,rate=RATE",
            help="Predict a run with such links between all clusters, as in "
            "'rtt=20ms,rate=1Gbit/s'.",
        ),
    ] = None,
    figure_file: Annotated[
        Path | None,
        typer.Option(
            "--figure",
            metavar="FILE",
            help="Draw the matrix of ranks to a .png, .svg or .pdf file.",
        ),
    ] = None,
    html_file: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write a page for a browser, with sliders for round trip and rate.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print sums and predictions as JSON.")
    ] = False,
) -> None:
    """Show what a program sends, what crosses between clusters, and what waits for it.

    [bold]isthmus run --profile app.json -n 8 ./app[/bold]
      Write the profile, here over two clusters on this host.

    [bold]isthmus profile show app.json --figure app.png[/bold]
      Show tables, and draw the matrix of ranks.

    [bold]isthmus profile show app.json --html app.html[/bold]
      Also write a page that a browser opens without a network.

    [bold]isthmus profile show app.json --link rtt=20ms,rate=1Gbit/s[/bold]
      Also predict the time over such a link.

    Predictions come from a simple model. Each has a lower and an upper bound, \
    and a confidence."""
    profile = model.load(file)
    wanted = _scenario(profile, grid, place, link)
    prediction = None if profile.missing else replay.predict(profile, wanted)
    if figure_file:
        figure.draw(profile, figure_file)
    if html_file:
        frame.write(document.document(profile, wanted, prediction), html_file)
    if as_json:
        json.dump(_sums(profile, wanted, prediction), sys.stdout, indent=1)
        print()
        return
    console = Console()
    console.width = max(console.width, 120)
    report.show(profile, console)
    print()
    asked = any(each is not None for each in (grid, place, link))
    console.print("[bold]What if[/bold]" if asked else "[bold]On a grid[/bold]")
    report.sentences(verdict.assumptions(wanted, profile.size), console)
    if asked and prediction:
        span = prediction.seconds
        print(
            f"{span.likely:.3f} s ({span.least:.3f} to {span.most:.3f}), "
            f"for {profile.seconds:.3f} s in the profile"
        )
    report.sentences(verdict.verdict(wanted, prediction), console)


def _scenario(profile: Profile, grid: Path | None, place: str | None, link: str | None) -> Scenario:
    if grid:
        found = scenario.of_grid(profile, grid, place)
    else:
        found = scenario.usual(profile)
        if place is not None:
            found = scenario.with_places(profile, found, place)
    return found if link is None else scenario.with_link(found, link)


def _sums(profile: Profile, wanted: Scenario, prediction: Prediction | None) -> dict[str, Any]:
    rows = [*profile.pairs, *profile.windows]
    crossing = summary.crossing(profile, rows)
    return {
        "program": profile.program,
        "size": profile.size,
        "missing": profile.missing,
        "seconds": profile.seconds,
        "messages": vars(summary.of_rows(profile.pairs)),
        "windows": vars(summary.of_rows(profile.windows)),
        "crossing": vars(crossing),
        "collectives": [
            {
                "function": each.function,
                "size": each.size,
                "clusters": each.clusters,
                "operations": each.operations,
                "bytes": each.given.bytes,
                "sizes": each.given.sizes,
                "seconds": each.seconds,
            }
            for each in summary.collectives(profile)
        ],
        "calls": {call.function: [call.mpi, call.wan] for call in summary.calls(profile)},
        "prediction": _predicted(wanted, prediction) if prediction else None,
        "verdict": list(verdict.verdict(wanted, prediction)),
    }


def _predicted(wanted: Scenario, prediction: Prediction) -> dict[str, Any]:
    span, times = prediction.seconds, prediction.slowdown
    return {
        "clusters": list(wanted.names),
        "seconds": [span.least, span.likely, span.most],
        "slowdown": [times.least, times.likely, times.most],
        "sure": prediction.certainty,
        "learned": prediction.learned,
    }
