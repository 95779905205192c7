"""mpi4py's own test suite on a grid of two clusters against the native run.

Usage: python compare.py --suite MPI4PY_SOURCE/test --python PYTHON --mpirun MPIRUN [--np 2 3 5]
                         [--modules PATTERN ...] [--together N] [--json FILE] [--isthmus ISTHMUS]

Every test that passes natively must pass on the grid, unless `expected.toml` beside this file
lists it with a reason. A test passes when it passes on all ranks. A crash or a hang is charged to
the test it happened in, and the run goes on without that test. Exit status 1 when a test is lost
without a listed reason.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import tomllib

HERE = Path(__file__).resolve().parent
RUNNER = HERE / "suite_runner.py"
REFUSAL = "spans clusters"  # in every sentence with which Isthmus refuses a function

Outcomes = dict[str, str]


def read_logs(folder: Path, ranks: int) -> tuple[Outcomes, str | None, dict[str, str]]:
    """Outcomes so far, the test that was under way on some rank, and reasons of failures."""
    by_test: dict[str, list[str]] = collections.defaultdict(list)
    reasons: dict[str, str] = {}
    under_way: str | None = None
    for rank in range(ranks):
        started: str | None = None
        path = folder / f"{rank}.log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            word, _, rest = line.partition(" ")
            name, _, reason = rest.partition(" ")
            if word == "start":
                started = name
            elif word in ("ok", "fail", "skip"):
                by_test[name].append(word)
                started = None
                if word == "fail":
                    reasons.setdefault(name, f"rank {rank}: {reason}")
        under_way = under_way or started
    outcomes: Outcomes = {}
    for name, words in by_test.items():
        if "fail" in words:
            outcomes[name] = "fail"
        elif len(words) == ranks:
            outcomes[name] = "skip" if "skip" in words else "ok"
    return outcomes, under_way, reasons


def run_once(command: list[str], logs: Path, patience: float) -> str:
    """Runs in a process group of its own; returns 'end', 'died' or, when no rank has logged
    anything for `patience` seconds, 'hung'."""
    with tempfile.TemporaryFile() as sink:
        process = subprocess.Popen(
            command,
            stdout=sink,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        logged, since = 0, time.monotonic()
        while time.monotonic() - since < patience:
            try:
                return "end" if process.wait(1) == 0 else "died"
            except subprocess.TimeoutExpired:
                size = sum(path.stat().st_size for path in logs.iterdir())
                if size != logged:
                    logged, since = size, time.monotonic()
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return "hung"


@dataclass
class Run:
    """The outcomes of the tests of some modules; `how` their last job ended."""

    outcomes: Outcomes
    reasons: dict[str, str]
    how: str


def run_modules(
    launch: list[str], options: argparse.Namespace, modules: list[str], ranks: int, known: Outcomes
) -> Run:
    """Tests with a known outcome are not run."""
    run = Run(dict(known), {}, "")
    with tempfile.TemporaryDirectory() as scratch:
        skip = Path(scratch, "skip")
        for attempt in range(12 + len(modules)):
            logs = Path(scratch, str(attempt))
            logs.mkdir()
            skip.write_text("\n".join(run.outcomes))
            command = [*launch, "-n", str(ranks), options.python, str(RUNNER), str(options.suite)]
            command += [str(logs), "--skip", str(skip), *modules]
            run.how = run_once(command, logs, options.timeout)
            new, under_way, why = read_logs(logs, ranks)
            run.outcomes.update(new)
            run.reasons.update(why)
            if run.how == "end" or under_way is None:
                break
            run.outcomes[under_way] = run.how
            run.reasons[under_way] = f"the job {run.how}"
    return run


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument("--python", required=True, help="with mpi4py for the MPI under test")
    parser.add_argument("--mpirun", required=True, nargs="+", help="native launcher and options")
    parser.add_argument("--isthmus", nargs="+", default=["isthmus"])
    parser.add_argument("--np", type=int, nargs="+", default=[2, 3, 5])
    parser.add_argument("--modules", nargs="+", default=["*"], help="patterns, without test_")
    parser.add_argument("--timeout", type=float, default=60, help="seconds without a word")
    parser.add_argument("--together", type=int, default=8, help="modules that share a job")
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run natively only what did not pass on the grid; the rest is taken to pass",
    )
    options = parser.parse_args()

    modules = sorted(
        path.stem
        for path in options.suite.glob("test_*.py")
        if any(fnmatch.fnmatch(path.stem.removeprefix("test_"), p) for p in options.modules)
    )
    tally = Tally(tomllib.loads((HERE / "expected.toml").read_text()))
    for ranks in options.np:
        for first in range(0, len(modules), options.together):
            group = modules[first : first + options.together]
            grid = run_modules([*options.isthmus, "run"], options, group, ranks, {})
            good = {name: outcome for name, outcome in grid.outcomes.items() if outcome == "ok"}
            native = run_modules(
                options.mpirun, options, group, ranks, good if options.quick else {}
            )
            tally.add(ranks, group, native, grid)
    if options.json:
        options.json.write_text(json.dumps({"lost": tally.lost, "listed": tally.rows}, indent=1))
    tally.summarise()
    return 1 if tally.lost else 0


class Tally:
    """Compares runs, says what it finds, and counts."""

    def __init__(self, expected: dict[str, dict[str, str]]) -> None:
        self.expected = expected
        self.lost: list[dict[str, str | int]] = []
        self.rows: collections.Counter[str] = collections.Counter()
        self.native = self.grid = 0

    def add(self, ranks: int, modules: list[str], native: Run, grid: Run) -> None:
        for module in modules:
            self.add_module(ranks, module, native, grid)
        if native.how == "end" and grid.how != "end":
            self.lose(ranks, f"the end of {' '.join(modules)}", grid.how, "")

    def add_module(self, ranks: int, module: str, native: Run, grid: Run) -> None:
        passing = [
            name
            for name, outcome in native.outcomes.items()
            if outcome == "ok" and name.partition(".")[0] == module
        ]
        missing = [name for name in passing if grid.outcomes.get(name) != "ok"]
        listed: collections.Counter[str] = collections.Counter()
        unlisted = []
        for name in missing:
            row = explanation(name, grid.reasons.get(name, ""), self.expected)
            if row is None:
                unlisted.append(name)
            else:
                listed[row] += 1
        self.rows.update(listed)
        self.native += len(passing)
        self.grid += len(passing) - len(missing)
        print(
            f"np {ranks} {module}: native {len(passing)} pass, grid {len(passing) - len(missing)}"
            + "".join(f"; {n} by {row}" for row, n in listed.items()),
            flush=True,
        )
        for name in unlisted:
            self.lose(ranks, name, grid.outcomes.get(name, "not run"), grid.reasons.get(name, ""))

    def lose(self, ranks: int, name: str, outcome: str, reason: str) -> None:
        print(f"    LOST {name}: {outcome}: {reason[-300:]}", flush=True)
        self.lost.append({"np": ranks, "test": name, "grid": outcome, "reason": reason})

    def summarise(self) -> None:
        reasons = self.expected["refused"] | self.expected["differs"]
        for row, n in sorted(self.rows.items()):
            print(f"{n} listed by {row}: {reasons[row]}")
        print(
            f"{self.grid} of {self.native} natively passing tests pass on the grid, "
            f"{self.rows.total()} listed with a reason"
        )
        print(f"{self.grid} passed, {len(self.lost)} failed")


def explanation(name: str, why: str, expected: dict[str, dict[str, str]]) -> str | None:
    """The row of the list that excuses the test on the grid, or None.

    Keys of the list are patterns of module, module.Class or module.Class.test. Keys under `refused`
    count only for tests that ended in Isthmus's own refusal, or whose subject was refused. Keys
    under `differs` count however the test ended.
    """
    short = name.removeprefix("test_")

    def listed(table: str) -> str | None:
        for key in expected[table]:
            if fnmatch.fnmatch(short, key) or fnmatch.fnmatch(short, key + ".*"):
                return key
        return None

    return (REFUSAL in why and listed("refused")) or listed("differs") or None


if __name__ == "__main__":
    sys.exit(main())
