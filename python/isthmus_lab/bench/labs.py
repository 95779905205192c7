"""Testbeds started for a benchmark: runs it in a lab, and brings its samples out."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isthmus.base.errors import RunError
from isthmus.base.itself import itself


def measure_inside(testbed: str, lab: Sequence[str], words: Sequence[str], raw: Path) -> Any:
    """Runs `isthmus bench WORDS --inside RAW` in a lab of its own; returns the data left in
    `raw`."""
    isthmus = itself()
    command = [*isthmus, "lab", "run", testbed, *lab, "--", *isthmus, "bench", *words]
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
