"""Common settings of all tests that run whole programs."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

# A shell that starts this in the background, or `nohup`, hands down signals that are ignored.
# Everything that the tests start would ignore them as well. Tests send them, so they start afresh.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        restored = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, restored)

# Programs that tests start get none of the user's settings. A narrow terminal cuts tables, a proxy
# hides metrics of this host, and other languages have other words. A batch job or a grid file of
# the user would be found where the test means none. Two settings stay: the place where Isthmus is
# installed, and the permission for root to run MPI.
_OWN = ("ISTHMUS_PREFIX", "ISTHMUS_LIBDIR", "OMPI_ALLOW_RUN_AS_ROOT")
_OF_OTHERS = re.compile(
    "(ISTHMUS|SLURM|PBS|LSB|FLUX|OMPI|PRTE|PMIX|HYDRA|MPICH|MPIR|UCX)_|(LC_.*|LANGUAGE|COLUMNS|LINES"
    "|NO_COLOR|FORCE_COLOR|(?i:https?|all)_(?i:proxy)|XDG_RUNTIME_DIR)$"
)
for name in list(os.environ):
    if _OF_OTHERS.match(name) and not name.startswith(_OWN):
        del os.environ[name]
os.environ["LC_ALL"] = "C.UTF-8"
# Tests find left-over processes by their environment. Agents hide theirs from all but root.
if os.geteuid() != 0:
    os.environ["ISTHMUS_DEBUG_MEMORY"] = "1"

# If Python may not write bytecode, each `isthmus` that tests start compiles its modules again:
# 80 ms of 300 (2026-11).
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Unbuffered, Python writes each word of a print by itself, and native launchers mix them (2026-11).
os.environ.pop("PYTHONUNBUFFERED", None)


@pytest.fixture
def grid_with(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a grid file."""

    def write(text: str) -> Path:
        file = tmp_path / "grid.toml"
        file.write_text(text)
        return file

    return write
