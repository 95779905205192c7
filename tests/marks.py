"""Finds the descendants of a test's run by their environment."""

from pathlib import Path

import pytest
from waiting import eventually

MARK = "ISTHMUS_TEST_MARK"


def processes(mark: str, variable: str = MARK) -> dict[int, str]:
    """Command lines of the processes that descend from a run of ours, by their environment."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{variable}={mark}".encode() in (entry / "environ").read_bytes():
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                if command.strip():
                    found[int(entry.name)] = command.decode(errors="replace").strip()
        except OSError:
            continue  # gone meanwhile, or another user's
    return found


def marked_processes(mark: str) -> list[str]:
    return [f"{number}: {command}" for number, command in processes(mark).items()]


def nothing_is_left(mark: str) -> None:
    """Fails, naming them, where processes of the run do not end."""
    try:
        eventually(lambda: not marked_processes(mark), "the end of all processes")
    except pytest.fail.Exception:
        pytest.fail("processes left behind:\n" + "\n".join(marked_processes(mark)))
