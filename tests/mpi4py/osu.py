"""mpi4py's OSU benchmarks as they are, on a grid of two clusters.

Usage: python osu.py --demo MPI4PY_SOURCE/demo --python PYTHON --isthmus ISTHMUS [--modules PATTERN]

Each has to end well and to print a figure for each size that it measures. Exit status 1 when one
does not.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

PAIRS = ("osu_latency", "osu_bw", "osu_bibw")  # for two ranks
LIMIT = 600  # seconds for each
ROW = re.compile(r"^[ \t]*(?:\d+[ \t]+)?\d+\.\d+[ \t]*$", re.MULTILINE)
LEAST_ROWS = {"osu_barrier": 1}  # it has no sizes
MOST_SIZES = 15  # the shortest of the others ends at 1 MiB or beyond


def fault(done: subprocess.CompletedProcess[str], name: str) -> str:
    """Returns an error message, or nothing."""
    if done.returncode != 0:
        return f"ended with status {done.returncode}\n{done.stderr[-2000:]}"
    rows = ROW.findall(done.stdout)
    least = LEAST_ROWS.get(name, MOST_SIZES)
    if len(rows) < least:
        return f"printed {len(rows)} figures instead of {least}\n{done.stdout[-2000:]}"
    if any(float(row.split()[-1]) <= 0 for row in rows):
        return f"printed a figure that is not positive\n{done.stdout[-2000:]}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demo", required=True, type=Path, help="mpi4py's folder of examples")
    parser.add_argument("--python", required=True, help="with mpi4py for the MPI under test")
    parser.add_argument("--isthmus", required=True, help="the command")
    parser.add_argument("--modules", default="*", help="which, such as 'osu_b*'")
    words = parser.parse_args()
    found = sorted(words.demo.glob("osu_*.py"))
    if not found:
        parser.error(f"{words.demo} has no osu_*.py")
    wrong = 0
    for script in found:
        name = script.stem
        if not fnmatch.fnmatch(name, words.modules):
            continue
        ranks = 2 if name in PAIRS else 4
        command = [words.isthmus, "run", "-n", str(ranks), words.python, str(script)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT, check=False
            )
            said = fault(done, name)
        except subprocess.TimeoutExpired:
            said = f"was not done after {LIMIT} s"
        print(f"{name}, {ranks} ranks: {said or 'well'}", flush=True)
        wrong += bool(said)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
