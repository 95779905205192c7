"""Measures how fast a run goes on without a failed cluster, for docs/surviving.md.

Usage: python bench/surviving.py [--delay '5 ms'] [--times 10] [--cc mpicc.openmpi]

In a lab of four clusters of 16 ranks and one of one rank, that one kills itself. Prints the median
and the worst of three times. The first ends with the error at the last of the 64 survivors. The
second is a shrink, from the last survivor that begins to the last that ends. The third is a shrink
without a failure.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("error at the last survivor", "shrink", "shrink without a failure")


def built(cc: str, folder: Path) -> Path:
    program = folder / "surviving"
    include = HERE.parent / "include"
    subprocess.run([cc, f"-I{include}", HERE / "surviving.c", "-o", program], check=True)
    return program


def measure(delay: str, times: int, program: Path, more: list[str]) -> list[list[float]]:
    """The three times of each run, in milliseconds."""
    died = program.with_name("died")
    run = f"'{sys.executable}' -m isthmus run --survive --timeout 100 '{program}' '{died}'"
    script = f"for i in $(seq {times}); do {run} && cat '{died}' || exit 1; done"
    lab = ["run", HERE / "surviving.toml", "--set", f"wan.delay={delay}", *more]
    words = [*lab, "--", "sh", "-c", script]
    command = [sys.executable, "-m", "isthmus", "lab", *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = []
    lines = done.stdout.splitlines()
    for line, death in zip(lines[::2], lines[1::2], strict=True):
        _, _, error, *shrinks = map(float, line.split())
        begun, made, begun_again, made_again = shrinks
        found.append([error - float(death), made - begun, made_again - begun_again])
    return [[1000 * one for one in each] for each in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--delay", default="5 ms", help="one way")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--cc", default="mpicc.openmpi")
    parser.add_argument("--set", action="append", default=[], help="as of `isthmus lab run`")
    chosen = parser.parse_args()
    more = [word for one in chosen.set for word in ("--set", one)]
    with tempfile.TemporaryDirectory(prefix="surviving-") as folder:
        runs = measure(chosen.delay, chosen.times, built(chosen.cc, Path(folder)), more)
    for name, each in zip(NAMES, zip(*runs, strict=True), strict=True):
        print(f"{name}: median {statistics.median(each):.1f} ms, worst {max(each):.1f} ms")


if __name__ == "__main__":
    main()
