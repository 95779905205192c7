"""The command `isthmus bench papers`."""

import json
import signal
from pathlib import Path
from typing import Annotated

import typer

from isthmus.bench import common
from isthmus.bench import figures as p2p_figures
from isthmus.bench.common import FiguresOption
from isthmus.bench.papers import figures, play, report, rows, shelf
from isthmus.errors import UsageError


def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Figures of --list, such as hablot-fig4, 'matsuda-*'."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Say which figures there are.")] = False,
    rows_: Annotated[
        bool,
        typer.Option(
            "--rows", help="Say, item by item, what Isthmus has of the papers (Markdown)."
        ),
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="Every figure.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Each by the smallest run that shows it.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write what was found.")
    ] = None,
    figures_folder: FiguresOption = None,
) -> None:
    """Figures and tables of the papers that Isthmus builds on, measured here, beside the papers'
    own numbers. A Markdown table of each goes to standard output.

    [bold]isthmus bench papers --list[/bold]
      Which there are.

    [bold]isthmus bench papers hablot-fig4 --figures figures/[/bold]
      Figure 4 of Hablot et al. 2007, drawn too.

    The exit status is 1 when a figure could not be had. Numbers that fall short of a paper's do not
    matter to it: the papers' machines were others."""
    signal.signal(signal.SIGTERM, common.leave)
    if list_:
        print(report.shelf(shelf.chosen(names or ["*"])))
        return
    if rows_:
        print(rows.markdown(), end="")
        return
    if not names and not all_:
        raise UsageError(
            "which figures? Name some of --list, or say --all",
            "isthmus bench papers --all --quick takes each by its smallest run.",
        )
    recipes = shelf.chosen(["*"] if all_ else names or [])
    if common.inside():
        raise UsageError(
            "the papers' figures start labs of their own, but this is inside one already",
            "Leave the lab first.",
        )
    if figures_folder is not None:
        p2p_figures.check()
    outcomes = []
    for recipe in recipes:
        outcome = play.play(recipe, quick, figures_folder, common.say)
        print(report.markdown(outcome, quick), end="\n\n", flush=True)
        if figures_folder is not None:
            for path in figures.beside(outcome, figures_folder / recipe.name):
                common.say(f"drawn: {path}")
        outcomes.append(outcome)
        if json_file is not None:  # as far as it has come
            _write(json_file, outcomes)
    raise typer.Exit(0 if all(outcome.shown for outcome in outcomes) else 1)


def _write(path: Path, outcomes: list[play.Outcome]) -> None:
    data = {"figures": [report.as_json(outcome) for outcome in outcomes]}
    try:
        path.write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"--json {path}: cannot be written: {error.strerror}") from None
