"""The output of `isthmus bench papers`: Markdown, with the paper's numbers beside ours."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from isthmus_lab.bench.papers.play import Finding, Outcome
from isthmus_lab.bench.papers.recipe import Recipe


def shelf(recipes: Sequence[Recipe]) -> str:
    """One line each: name, paper and figure, and its subject."""
    width = max(len(recipe.name) for recipe in recipes)
    shown: list[str] = []
    paper = None
    for recipe in recipes:
        if recipe.paper is not paper:
            paper = recipe.paper
            shown += ["", paper.title] if shown else [paper.title]
        shown.append(f"  {recipe.name:{width}}  {recipe.figure}: {recipe.about}")
    return "\n".join(shown)


def markdown(outcome: Outcome, quick: bool) -> str:
    recipe = outcome.recipe
    lines = [f"## {recipe.name}", "", f"{recipe.paper.title}, {recipe.figure}: {recipe.about}."]
    for measurement in recipe.measurements.values():
        lines += ["", f"    isthmus bench {' '.join(_quoted(measurement.command(quick)))}"]
    lines += ["", "| | paper | here | |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(_row(found))} |" for found in outcome.findings]
    lines += [f"\nNot measured: {failure}" for failure in outcome.failures]
    lines += [f"\n{sentence}" for sentence in outcome.machines]
    return "\n".join([*lines, *(["", recipe.remark] if recipe.remark else [])])


def _quoted(words: Sequence[str]) -> list[str]:
    return [f"'{word}'" if set(word) & set(" *%") else word for word in words]


def shown(outcome: Outcome) -> list[Table | str]:
    """The same for a page."""
    recipe = outcome.recipe
    table = Table(title=f"{recipe.paper.title}, {recipe.figure}: {recipe.about}")
    for column in ("", "paper", "here", ""):
        table.add_column(column, justify="right" if column else "left")
    for found in outcome.findings:
        table.add_row(*_row(found))
    said = [*(f"Not measured: {failure}" for failure in outcome.failures), *outcome.machines]
    return [table, *filter(None, [*said, recipe.remark])]


def _row(found: Finding) -> list[str]:
    claim = found.claim
    paper = "no number" if claim.paper is None else _number(claim.paper, claim.unit)
    here = "-" if found.value is None else _number(found.value, claim.unit)
    return [claim.what, paper, here, found.word]


def _number(value: float, unit: str) -> str:
    digits = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{digits} {unit}".rstrip()


def as_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.recipe.name,
        "paper": outcome.recipe.paper.title,
        "figure": outcome.recipe.figure,
        "findings": [
            {
                "what": found.claim.what,
                "unit": found.claim.unit,
                "paper": found.claim.paper,
                "here": found.value,
                "well": found.well,
                "noise": found.noise,
                "why": found.why,
            }
            for found in outcome.findings
        ],
        "failures": outcome.failures,
        "busy": any(found.busy for found in outcome.findings),
        "machines": outcome.machines,
    }
