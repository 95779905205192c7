"""Runs the benchmarks of a recipe, each as a command of its own, and reads their results."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isthmus.itself import itself
from isthmus_lab.bench.papers.recipe import Claim, Measured, Recipe
from isthmus_lab.measuring.samples import NotMeasuredError

Run = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Finding:
    """`value` None: not measured, for the reason `why`."""

    claim: Claim
    value: float | None
    why: str = ""

    @property
    def well(self) -> bool | None:
        return None if self.value is None else self.claim.well(self.value)


@dataclass
class Outcome:
    """`failures` are measurements and contestants without results."""

    recipe: Recipe
    findings: list[Finding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def shown(self) -> bool:
        """Whether the figure is complete: everything ran, and every claim has a value."""
        return not self.failures and all(found.value is not None for found in self.findings)


def isthmus_bench(words: Sequence[str]) -> int:
    """Returns its exit status. Its tables go to standard error: standard output is for the
    report."""
    command = [*itself(), "bench", *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr) as running:
        try:
            return running.wait()
        finally:
            running.terminate()  # takes its lab down, when this one was interrupted


def play(
    recipe: Recipe,
    quick: bool,
    figures: Path | None,
    say: Callable[[str], None],
    run: Run = isthmus_bench,
) -> Outcome:
    """Never raises for failures of a benchmark. A benchmark below its limits (status 1) still shows
    the figure; one without a contestant does not."""
    outcome, measured = Outcome(recipe), Measured()
    with tempfile.TemporaryDirectory(prefix="isthmus-papers-") as folder:
        for name, measurement in recipe.measurements.items():
            words = measurement.command(quick)
            say(f"{recipe.name}: isthmus bench {' '.join(words)}")
            file = Path(folder) / f"{name or 'results'}.json"
            drawn = ["--figures", str(figures / recipe.name)] if figures else []
            status = run([*words, "--json", str(file), *drawn])
            try:
                measured.add(name, measurement.kind, json.loads(file.read_text()))
            except (OSError, ValueError, KeyError, TypeError):
                outcome.failures.append(
                    f"isthmus bench {' '.join(words)} ended with status {status}, without results"
                )
            else:
                outcome.failures += [
                    f"isthmus bench {' '.join(words)}: {key} could not be measured"
                    for key in measured.found[name].failed
                ]
    outcome.findings = [_find(claim, measured) for claim in recipe.claims]
    return outcome


def _find(claim: Claim, measured: Measured) -> Finding:
    try:
        return Finding(claim, claim.here(measured))
    except NotMeasuredError as error:
        return Finding(claim, None, str(error))
