"""The command `isthmus bench papers`."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base import completing
from isthmus.base.errors import UsageError
from isthmus.webpage import frame
from isthmus_lab.bench import chart, common, page
from isthmus_lab.bench.output import write_json
from isthmus_lab.bench.papers import figures, play, report, shelf


def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Names from --list, such as hablot-fig4, 'matsuda-*'.",
            autocompletion=completing.place("isthmus_lab.bench.papers.shelf:names"),
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the figures.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Measure every figure.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use the smallest run that shows each figure.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results to this file.")
    ] = None,
    figures_folder: common.FiguresOption = None,
    html_file: common.HtmlOption = None,
) -> None:
    """Measure the figures and tables of the papers that Isthmus builds on.

    Standard output gets a Markdown table for each, with the papers' own numbers.

    [bold]isthmus bench papers --list[/bold]
      List the figures.

    [bold]isthmus bench papers hablot-fig4 --figures figures/[/bold]
      Figure 4 of Hablot et al. 2007, with a drawing.

    The exit status is 1 if a figure or a contestant could not be measured, or if other programs
    kept the machine too busy to judge a number. It ignores whether a number falls short of a
    paper's: the papers' machines were different."""
    signal.signal(signal.SIGTERM, common.leave)
    if list_:
        print(report.shelf(shelf.chosen(names or ["*"])))
        return
    if not names and not all_:
        raise UsageError(
            "no figure is named",
            "Name figures of --list, or use --all; with --quick each takes its smallest run.",
        )
    recipes = shelf.chosen(["*"] if all_ else names or [])
    if common.inside():
        raise UsageError(
            "this benchmark starts labs of its own, but this is inside one already",
            "Leave the lab first.",
        )
    if figures_folder is not None:
        chart.pyplot()  # complains if it is missing
    outcomes, drawn = [], []
    for recipe in recipes:
        outcome = play.play(recipe, quick, figures_folder, common.say)
        print(report.markdown(outcome, quick), end="\n\n", flush=True)
        if figures_folder is not None:
            folder = figures_folder / recipe.name
            for path in [*figures.together(outcome, folder), *figures.beside(outcome, folder)]:
                common.say(f"drawn: {path}")
                drawn.append(path)
        outcomes.append(outcome)
        if json_file is not None:  # as far as it is done
            write_json(json_file, {"figures": [report.as_json(one) for one in outcomes]})
    if html_file is not None:
        kept = [one for outcome in outcomes for one in report.shown(outcome)]
        known = common.facts("papers")
        text = page.document("Figures of the papers", known, kept, [], page.vectors(drawn))
        frame.write(text, html_file)
    raise typer.Exit(0 if all(outcome.shown for outcome in outcomes) else 1)
