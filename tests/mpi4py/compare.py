"""mpi4py's own test suite on a grid of two clusters against the native run.

Usage: python compare.py --suite MPI4PY_SOURCE/test --python PYTHON --mpirun MPIRUN [--np 2 3 5]
                         [--modules PATTERN ...] [--json FILE] [--isthmus ISTHMUS]

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


def run_once(command: list[str], timeout: float) -> str:
    """Runs in a process group of its own; returns 'end', 'died' or 'hung'."""
    with tempfile.TemporaryFile() as sink:
        process = subprocess.Popen(
            command,
            stdout=sink,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return "end" if process.wait(timeout) == 0 else "died"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            return "hung"


def run_module(
    launch: list[str], python: str, suite: Path, module: str, ranks: int, timeout: float
) -> tuple[Outcomes, dict[str, str]]:
    outcomes: Outcomes = {}
    reasons: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        skip = Path(scratch, "skip")
        for attempt in range(12):
            logs = Path(scratch, str(attempt))
            logs.mkdir()
            skip.write_text("\n".join(outcomes))
            command = [
                *launch,
                python,
                str(RUNNER),
                str(suite),
                str(logs),
                "--skip",
                str(skip),
                module,
            ]
            how = run_once(command, timeout)
            new, under_way, why = read_logs(logs, ranks)
            outcomes.update(new)
            reasons.update(why)
            if how == "end":
                break
            if under_way is None:
                outcomes[f"{module} (attempt {attempt})"] = how
                break
            outcomes[under_way] = how
            reasons[under_way] = f"the job {how}"
    return outcomes, reasons


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
    parser.add_argument("--timeout", type=float, default=120, help="seconds per module")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--native-only", action="store_true")
    options = parser.parse_args()

    modules = sorted(
        path.stem
        for path in options.suite.glob("test_*.py")
        if any(fnmatch.fnmatch(path.stem.removeprefix("test_"), p) for p in options.modules)
    )
    expected = tomllib.loads((HERE / "expected.toml").read_text())
    lost: list[dict[str, str | int]] = []
    totals: collections.Counter[str] = collections.Counter()
    for ranks in options.np:
        for module in modules:
            native, _ = run_module(
                [*options.mpirun, "-n", str(ranks)],
                options.python,
                options.suite,
                module,
                ranks,
                options.timeout,
            )
            grid, why = run_module(
                [*options.isthmus, "run", "-n", str(ranks)],
                options.python,
                options.suite,
                module,
                ranks,
                options.timeout,
            )
            passing = [name for name, outcome in native.items() if outcome == "ok"]
            missing = [name for name in passing if grid.get(name) != "ok"]
            listed: collections.Counter[str] = collections.Counter()
            unlisted = []
            for name in missing:
                reason = explanation(name, why.get(name, ""), expected)
                if reason is None:
                    unlisted.append(name)
                else:
                    listed[reason] += 1
            totals.update(
                native=len(passing), grid=len(passing) - len(missing), listed=listed.total()
            )
            print(
                f"np {ranks} {module}: native {len(passing)} pass, grid "
                f"{len(passing) - len(missing)}"
                + "".join(f"; {n} listed: {reason}" for reason, n in listed.items()),
                flush=True,
            )
            for name in unlisted:
                outcome, reason = grid.get(name, "not run"), why.get(name, "")
                print(f"    LOST {name}: {outcome}: {reason[-300:]}", flush=True)
                lost.append({"np": ranks, "test": name, "grid": outcome, "reason": reason})
    if options.json:
        options.json.write_text(json.dumps(lost, indent=1))
    print(
        f"{totals['grid']} of {totals['native']} natively passing tests pass on the grid, "
        f"{totals['listed']} listed with a reason"
    )
    print(f"{totals['grid']} passed, {len(lost)} failed")
    return 1 if lost else 0


def explanation(name: str, why: str, expected: dict[str, dict[str, str]]) -> str | None:
    """The listed reason why a test may not pass on the grid; None when there is none.

    Keys of the list are patterns of module, module.Class or module.Class.test. Those under
    `refused` count only for tests that ended in Isthmus's own refusal, or that were refused what
    they are about; those under `differs` count however the test ended.
    """
    short = name.removeprefix("test_")

    def listed(table: str) -> str | None:
        for key, reason in expected[table].items():
            if fnmatch.fnmatch(short, key) or fnmatch.fnmatch(short, key + ".*"):
                return reason
        return None

    return (REFUSAL in why and listed("refused")) or listed("differs") or None


if __name__ == "__main__":
    sys.exit(main())
