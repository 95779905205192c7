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
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.measuring.place import Place, inside_lab
from isthmus_lab.measuring.samples import Samples

Measured = TypeVar("Measured", bound=Samples[Any])
# Options that say where to measure and what to write.
_OUTSIDE = ("testbed", "grid", "set_", "json_file", "figures_folder", "html_file")


def words_inside(context: typer.Context, *left_out: str) -> list[str]:
    """The words of this command for the same one in a lab: the options that the user has given.
    The options of its place and output stay outside, and those in `left_out`."""
    words = [str(context.info_name)]
    for option in context.command.params:
        name = str(option.name)
        source = context.get_parameter_source(name)
        if name in (*_OUTSIDE, *left_out) or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        if getattr(option, "is_flag", False):
            words.append((option.opts if value else option.secondary_opts)[0])
            continue
        for one in value if getattr(option, "multiple", False) else [value]:
            flag = option.opts[0]
            words += [f"{flag}={one}"] if flag.startswith("--") else [flag, str(one)]
    return words


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


def in_one_lab(testbed: str, context: typer.Context, results: Measured) -> tuple[str, Measured]:
    """Measures in a lab with one node at each site; returns the testbed's name, too."""
    name, _ = testbeds.load(testbed)
    results.merge(measure_inside(testbed, ["--nodes", "1"], words_inside(context)))
    return name, results


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
