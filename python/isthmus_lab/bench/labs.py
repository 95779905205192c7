"""Testbeds started for a benchmark: runs it in a lab, and brings its samples out."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer

from isthmus.base.errors import RunError
from isthmus.base.itself import itself
from isthmus_lab.bench import common
from isthmus_lab.measuring.place import Place, inside_lab
from isthmus_lab.measuring.samples import Samples

Measured = TypeVar("Measured", bound=Samples[Any])


def measure_inside(testbed: str, lab: Sequence[str], words: Sequence[str]) -> Any:
    """Runs `isthmus bench WORDS --inside FILE` in a lab of its own; returns the data left in the
    file."""
    isthmus = itself()
    command = [*isthmus, "lab", "run", testbed, *lab, "--", *isthmus, "bench", *words]
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        raw = Path(folder) / "raw.json"
        with subprocess.Popen([*command, "--inside", str(raw)]) as inside:
            try:
                status = inside.wait()
            finally:
                inside.terminate()  # takes the lab down, when this one was interrupted
        if status != 0:
            raise RunError(f"the benchmark in testbed {testbed} ended with status {status}")
        try:
            return json.loads(raw.read_text())
        except (OSError, ValueError) as error:
            raise RunError(f"the benchmark in testbed {testbed} left no results: {error}") from None


def measure(
    testbed: str | None,
    grid: Path | None,
    inside: Path | None,
    here: Callable[[Place], Measured],
    in_labs: Callable[[str], tuple[str, Measured]],
) -> tuple[str, Measured]:
    """Measures `here`, or in the labs of a testbed; returns the place, too. The command ends, and
    leaves the samples in the file, if it has --inside."""
    if inside is not None:
        inside.write_text(json.dumps(here(inside_lab()).as_json()))
        raise typer.Exit
    common.check(testbed, grid)
    if testbed is not None and common.in_labs(testbed):
        return in_labs(testbed)
    place = common.place(testbed, grid)
    return place.name, here(place)
