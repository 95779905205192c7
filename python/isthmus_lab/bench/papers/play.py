"""Runs the benchmarks of a recipe, each as a command of its own, and reads their results."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isthmus.base.itself import itself
from isthmus_lab.bench.papers.recipe import Claim, Measured, Recipe
from isthmus_lab.measuring.samples import NotMeasuredError

Run = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Finding:
    """`value` None: not measured, for the reason `why`. `busy`: the machine was too busy to
    judge."""

    claim: Claim
    value: float | None
    why: str = ""
    noise: float = 0.0
    busy: bool = False

    @property
    def well(self) -> bool | None:
        if self.value is None or self.busy:
            return None
        return self.claim.well(self.value, self.noise)

    @property
    def word(self) -> str:
        """The last column of the table."""
        if self.value is None:
            return self.why
        if not self.claim.judged:
            return ""
        if self.busy:
            return "not judged: busy machine"
        if self.well is None:
            return f"not judged: noise of {self.noise:.2g} {self.claim.unit}".rstrip()
        return "reached" if self.well else "not reached"


@dataclass
class Outcome:
    """`failures` are measurements and contestants that failed; `machines` says how busy the machine
    was."""

    recipe: Recipe
    findings: list[Finding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    machines: list[str] = field(default_factory=list)
    measured: Measured = field(default_factory=Measured)

    @property
    def shown(self) -> bool:
        """Whether the figure is complete: everything ran, every claim has a value, and the machine
        was not too busy to judge one."""
        refused = any(found.busy and found.claim.judged for found in self.findings)
        whole = all(found.value is not None for found in self.findings)
        return whole and not refused and not self.failures


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
    measured = Measured()
    outcome = Outcome(recipe, measured=measured)
    with tempfile.TemporaryDirectory(prefix="isthmus-papers-") as folder:
        for name, measurement in recipe.measurements.items():
            words = measurement.command(quick)
            say(f"{recipe.name}: isthmus bench {' '.join(words)}")
            file = Path(folder) / f"{name or 'results'}.json"
            folder_ = figures / recipe.name / name if figures else None
            drawn = ["--figures", str(folder_)] if folder_ and measurement.draws else []
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
    for name, found in measured.found.items():
        for variant, machine in found.machines.items():
            where = ", ".join(filter(None, (name, variant)))
            outcome.machines.append(f"{where}: {machine.sentence}" if where else machine.sentence)
    busy = any(found.busy for found in measured.found.values())
    outcome.findings = [_find(claim, measured, busy) for claim in recipe.claims]
    return outcome


def _find(claim: Claim, measured: Measured, busy: bool) -> Finding:
    try:
        value = claim.here(measured)
        noise = claim.noise(measured) if claim.noise else 0.0
    except NotMeasuredError as error:
        return Finding(claim, None, str(error))
    return Finding(claim, value, noise=noise, busy=busy)
