"""Strangers at doors keep nobody out. `make doors` has the whole table."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

from marks import processes
from running import ran
from waiting import eventually

DOORS = Path(__file__).with_name("doors")


def test_strangers_at_doors() -> None:
    """Each kind of stranger once. Users come in; memory and logs stay small."""
    done = ran(
        [sys.executable, DOORS, "--short"], env={**os.environ, "PYTHONPATH": ""}, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_table_that_is_killed_leaves_no_process() -> None:
    mark = uuid.uuid4().hex

    def started() -> dict[int, str]:
        return processes(mark, "DOORS_MARK")

    with subprocess.Popen(
        [sys.executable, DOORS, "--short", "--doors", "queue"],
        env={**os.environ, "PYTHONPATH": "", "DOORS_MARK": mark},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as table:  # fmt: skip
        eventually(lambda: any(" submit " in line for line in started().values()), "a job", 120)
        table.kill()
    eventually(lambda: not started(), "the end of what the table has started")
