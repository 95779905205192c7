"""Predictions of `isthmus profile show --link` for other delays, beside runs over them.

Usage: python bench/predictions.py [--program NAME]... [--repeat 3] [--keep DIR]

Each program runs with --profile on 2 + 2 nodes of the lab `hablot`, over its link of 1 Gbit/s with
three delays. The table (Markdown) has two predictions and the measured times. One comes from the
run without a delay, the other from the run with the shorter delay. Times are seconds from MPI_Init
to MPI_Finalize, of the quickest of several runs; the least and the most in brackets. It takes some
minutes."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from isthmus.measuring.program import prepare
from isthmus.profile import model, replay, scenario
from isthmus_lab.bench.app.programs import KERNEL_FOLDER

HERE = Path(__file__).parent
ISTHMUS = [sys.executable, "-m", "isthmus"]
RTTS = {"none": 0, "5 ms": 10, "20 ms": 40}  # a lab's delay, one way; milliseconds both ways
PROGRAMS = {
    "lu": (KERNEL_FOLDER / "lu.c", "S"),
    "mg": (KERNEL_FOLDER / "mg.c", "S"),
    "is": (KERNEL_FOLDER / "is.c", "W"),
    "ft": (KERNEL_FOLDER / "ft.c", "S"),
    "cg": (KERNEL_FOLDER / "cg.c", "S"),
    "halo": (HERE / "halo.c", "200", "8192"),
    "replies": (HERE / "replies.c", "200"),
}


def run_all(names: list[str], repeat: int, folder: Path) -> None:
    """In a lab: of each program the profile of its quickest run."""
    for name in names:
        source, *words = PROGRAMS[name]
        program = prepare("mpicc", None, source)
        best, new = folder / f"{name}.json", folder / "new.json"
        for _ in range(repeat):
            command = [*ISTHMUS, "run", "--profile", str(new), "-n", "4", program, *words]
            subprocess.run(command, check=True, timeout=300, stdout=sys.stderr)
            if not best.exists() or model.load(new).seconds < model.load(best).seconds:
                new.replace(best)


def said(profile: model.Profile, rtt: int) -> str:
    there = scenario.with_link(scenario.as_it_was(profile), f"rtt={rtt}ms,rate=1Gbit/s")
    span = replay.predict(profile, there).seconds
    return f"{span.likely:.2f} ({span.least:.2f} to {span.most:.2f})"


def table(names: list[str], folder: Path) -> str:
    lines = [
        "| program | no delay | 10 ms, from none | ran | 40 ms, from none | from 10 ms | ran |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names:
        none, short, long = (
            model.load(folder / str(rtt) / f"{name}.json") for rtt in RTTS.values()
        )
        cells = [
            f"`{' '.join([name, *PROGRAMS[name][1:]])}`",
            f"{none.seconds:.2f}",
            said(none, 10),
            f"**{short.seconds:.2f}**",
            said(none, 40),
            said(short, 40),
            f"**{long.seconds:.2f}**",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the profiles there")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.program or list(PROGRAMS)
    if options.inside:
        run_all(names, options.repeat, options.inside)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        for delay, rtt in RTTS.items():
            (folder / str(rtt)).mkdir(parents=True, exist_ok=True)
            lab = ["lab", "run", "hablot", "--set", f"wan.delay={delay}", "--"]
            again = [sys.executable, __file__, "--inside", str(folder / str(rtt))]
            again += ["--repeat", str(options.repeat)]
            again += [word for name in names for word in ("--program", name)]
            subprocess.run([*ISTHMUS, *lab, *again], check=True)
        print(table(names, folder))


if __name__ == "__main__":
    main()
