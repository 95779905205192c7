"""The paper's numbers drawn beside those measured here, as bars of their ratio."""

from pathlib import Path

from isthmus_lab.bench.chart import folder_for, pyplot, save
from isthmus_lab.bench.papers.play import Outcome
from isthmus_lab.measuring.samples import NotMeasuredError


def together(outcome: Outcome, folder: Path) -> list[Path]:
    """Draws several measurements in one picture. Returns nothing if a part is missing."""
    if outcome.recipe.draw is None:
        return []
    folder_for(folder)
    try:
        return outcome.recipe.draw(outcome.measured, folder)
    except NotMeasuredError:
        return []


def beside(outcome: Outcome, folder: Path) -> list[Path]:
    """A group for each claim with a number of the paper, whose bar is 1; the paths, each as PNG and
    SVG."""
    bars = [
        (found.claim, found.value)
        for found in outcome.findings
        if found.value is not None and found.claim.paper
    ]
    if not bars:
        return []
    folder_for(folder)
    plot = pyplot()
    figure, axes = plot.subplots(figsize=(8, 1.2 + 0.6 * len(bars)))
    for i, (claim, value) in enumerate(bars):
        assert claim.paper
        axes.barh(i - 0.2, 1, 0.38, color="silver", label="paper" if i == 0 else None)
        ratio = value / claim.paper
        axes.barh(i + 0.2, ratio, 0.38, color="tab:blue", label="here" if i == 0 else None)
        axes.text(1, i - 0.2, f" {claim.paper:g} {claim.unit}", va="center", fontsize="small")
        axes.text(ratio, i + 0.2, f" {value:.4g} {claim.unit}", va="center", fontsize="small")
    axes.set_yticks(range(len(bars)), [claim.what for claim, _ in bars], fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel("times the paper's number")
    axes.set_title(f"{outcome.recipe.paper.title}, {outcome.recipe.figure}", fontsize="medium")
    axes.legend(fontsize="small")
    return save(plot, figure, folder / f"{outcome.recipe.name}-beside-the-paper")
