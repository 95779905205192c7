"""Strangers at doors keep nobody out. `make doors` has the whole table."""

import os
import subprocess
import sys
from pathlib import Path


def test_strangers_at_doors() -> None:
    """Each kind of stranger once. Users come in; memory and logs stay small."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("doors.py"), "--short"],
        env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True, check=False,
        timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
