"""`make faults`: does to a run over two clusters what can go wrong, one fault at a time, and writes
docs/reliability.md of what was seen."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
sys.path.append(str(Path(__file__).parents[2] / "grid"))

import mpis
import page
from rows import LIBRARIES, ROWS, Row, drawn, processes_limited

HERE = Path(__file__).parent
BUILT = mpis.ROOT / "build" / "tests"
KEPT = mpis.ROOT / "build" / "faults"  # what was seen, by row and library


@dataclass(frozen=True)
class Case:
    row: Row
    library: str

    @property
    def name(self) -> str:
        return f"{self.row.name}, {self.library}"


def play(case: Case, keep: Path | None = None) -> dict[str, object]:
    """In a lab of its own, whose /tmp is its own, too."""
    program = mpis.ALL[case.library].build(HERE / "traffic.c", BUILT)
    folder = Path(tempfile.mkdtemp(prefix="row-", dir=_folder()))
    inside = (
        "mount -t tmpfs -o size=64m none /tmp && mkdir /tmp/isthmus-test-home && "
        'export HOME=/tmp/isthmus-test-home TMPDIR=/tmp && exec "$@"'
    )
    command = [
        sys.executable, "-m", "isthmus", "lab", "run", *case.row.testbed, "--", "sh", "-c", inside,
        "sh", sys.executable, HERE / "play.py", case.row.name, case.library, program, folder,
    ]  # fmt: skip
    env = {
        **os.environ,
        "ISTHMUS_HOME": str(folder / "lab"),
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    limit = 480 + 2 * case.row.patience
    try:
        done = subprocess.run(
            list(map(str, command)), env=env, capture_output=True, text=True, timeout=limit,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        if done.returncode != 0 or not lines:
            return {"wrong": f"the lab failed: {done.stderr[-1500:]}", "left": [], "said": ""}
        return dict(json.loads(lines[-1]))
    except subprocess.TimeoutExpired:
        return {"wrong": f"the lab did not end within {limit:g} s", "left": [], "said": ""}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    KEPT.mkdir(parents=True, exist_ok=True)
    return KEPT


def told(case: Case, seen: dict[str, object]) -> bool:
    """Prints a row; whether it is as it should be."""
    wrong = seen.get("wrong")
    mark = "WRONG" if wrong else "ok"
    follows = f"status {status}" if (status := seen.get("status")) else "goes on"
    print(f"{mark:5} {case.name}: {wrong or seen.get('sentence') or follows}", flush=True)
    if wrong:
        for line in str(seen.get("said", "")).splitlines()[-24:]:
            print(f"      | {line}", flush=True)
    for thing in seen.get("left") or []:  # type: ignore[attr-defined]
        print(f"      left behind: {thing}", flush=True)
    return not wrong


def keep(case: Case, seen: dict[str, object]) -> None:
    name = case.name.replace("/", "_")
    seen = {**seen, "row": case.row.name, "library": case.library, "day": time.strftime("%F")}
    (_folder() / f"{name}.json").write_text(json.dumps(seen, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", help="words of the rows' names; none: all")
    parser.add_argument("--long", action="store_true", help="with the rows that take minutes")
    parser.add_argument("--library", action="append", choices=sorted(mpis.ALL))
    parser.add_argument("--list", action="store_true")
    parser.add_argument(
        "--random", type=int, metavar="SEED", help="two faults at once instead, drawn from a seed"
    )
    parser.add_argument(
        "--processes", type=int, nargs=2, metavar=("FROM", "TO"),
        help="each limit on processes and threads between these two instead",
    )  # fmt: skip
    parser.add_argument("--page", action="store_true", help="write the page of what was seen only")
    given = parser.parse_args()
    wanted = [
        row
        for row in ROWS
        if (given.long or not row.long)
        and (not given.rows or any(words in row.name for words in given.rows))
    ]
    if given.random is not None:
        wanted = [drawn(given.random)]
    if given.processes:
        low, high = given.processes
        wanted = [processes_limited(limit) for limit in range(low, high + 1)]
    if given.list:
        print("\n".join(row.name for row in wanted))
        return
    well = True
    for row in [] if given.page else wanted:
        for library in given.library or LIBRARIES:
            case = Case(row, library)
            seen = play(case)
            keep(case, seen)
            well = told(case, seen) and well
    page.write(KEPT, ROWS)
    sys.exit(not well)


if __name__ == "__main__":
    main()
