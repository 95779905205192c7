"""Pingpong inside a cluster, native against grid. (Across clusters: `isthmus bench p2p`.)

Usage: python bench/run.py [--repeat 7] [--json FILE] [--profile]

Runs the contestants in turn, several times, and compares medians. A figure is a ratio of two
figures that were measured side by side. 8 bytes go between ranks 0 and 1 of MPI_COMM_WORLD, as a
native job of two and as a grid of 2 + 1. So both players are in one cluster, and MPI_COMM_WORLD is
a grid communicator. The same command line launches the players' cluster and the native job. Three
ranks are more than two cores, so Isthmus alone would have made them yield and left them unbound.
The third rank sleeps outside of MPI while the others play.

If --profile is given, two pairs of one cluster play in turns within one run, one of them profiled
as by `isthmus run --profile`. The profiled pair changes from run to run. Two ranks that send to
themselves are measured in the same way.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "bench"
LIBRARIES = {
    "Open MPI": ("mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe"]),
    "MPICH": ("mpicc.mpich", ["mpirun.mpich"]),
}
GRID = """\
[cluster.east]
launch = "{mpirun} -n {{n}} {{command}}"
env = {{ OMPI_MCA_mpi_yield_when_idle = "0" }}

[cluster.west]
"""
ISTHMUS = [sys.executable, "-m", "isthmus", "run"]
ENV = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def build(compiler: str, source: str, name: str) -> str:
    OUT.mkdir(parents=True, exist_ok=True)
    binary = OUT / name
    subprocess.run([compiler, "-O2", ROOT / "bench" / source, "-o", binary], check=True)
    return str(binary)


def samples(command: list[str], over: Path) -> list[float]:
    over.unlink(missing_ok=True)
    done = subprocess.run(
        command, env=ENV, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit status {done.returncode}: {done.stderr}")
    return [float(line) for line in done.stdout.split()]


def beside(ours: list[str], theirs: list[str], over: Path) -> tuple[float, float]:
    return statistics.median(samples(ours, over)), statistics.median(samples(theirs, over))


# The pair of ranks that is not profiled is named first.
UNPROFILED = """case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in $1) unset ISTHMUS_PROFILE;; esac
shift; exec "$@\""""


def profiled(
    ours: list[str], program: str, without: int, alone: bool = False
) -> tuple[float, float]:
    """Medians with a profile and without; the pair `without` has none."""
    over = OUT / "over"
    over.unlink(missing_ok=True)
    play = [program, "8", "50000", "10", str(over), *(["alone"] if alone else [])]
    ranks = ("[01]", "[23]")[without]
    at = len(ISTHMUS)
    command = [*ours[:at], "--profile", str(OUT / "profile.json"), *ours[at:]]
    command += ["--on", "east", "-n", "4", "sh", "-c", UNPROFILED, "sh", ranks, *play]
    command += [":", "--on", "west", "-n", "1", *play]
    done = subprocess.run(
        command, env=ENV, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit status {done.returncode}: {done.stderr}")
    times: tuple[list[float], list[float]] = ([], [])
    for line in done.stdout.splitlines():
        pair, _, time = line.partition(" ")
        times[int(pair)].append(float(time))
    return statistics.median(times[1 - without]), statistics.median(times[without])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()

    over = OUT / "over"
    contests: list[tuple[str, Callable[[int], tuple[float, float]]]] = []
    for library, (compiler, mpirun) in LIBRARIES.items():
        family = compiler.rpartition(".")[2]
        grid = OUT / f"{compiler}.toml"
        ours = [*ISTHMUS, "-g", str(grid)]
        if options.profile:
            turns = build(compiler, "turns.c", f"turns.{family}")
            title = f"8 B inside a cluster, {library}: grid with --profile / grid"
            contests.append((title, lambda i, o=ours, p=turns: profiled(o, p, i % 2)))
            title = f"8 B to itself, {library}: grid with --profile / grid"
            contests.append((title, lambda i, o=ours, p=turns: profiled(o, p, i % 2, True)))
        else:
            program = build(compiler, "pingpong.c", f"pingpong.{family}")
            inside = [program, "1", "8", "100000", str(over)]
            ours += ["--on", "east", "-n", "2", *inside, ":", "--on", "west", "-n", "1", *inside]
            theirs = [*mpirun, "-n", "2", *inside]
            title = f"8 B inside a cluster, {library}: grid / native"
            contests.append((title, lambda _, o=ours, t=theirs: beside(o, t, over)))
        grid.write_text(GRID.format(mpirun=" ".join(mpirun)))

    results = []
    for title, contest in contests:
        pairs = [contest(i) for i in range(options.repeat)]
        our, their = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(
            f"{title}: {our:.4f} us / {their:.4f} us, median of {options.repeat} ratios "
            f"{ratio:.3f}",
            flush=True,
        )
        results.append({"title": title, "pairs_us": pairs, "ratio": ratio})
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
