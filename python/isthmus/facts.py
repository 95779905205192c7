"""What one process writes down for other terminals: files of facts, and a lock for as long as it
lives."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write(file: Path, facts: Mapping[str, Any]) -> None:
    """Replaces the file as a whole, so that nobody reads a part."""
    temporary = file.with_name(f"{file.name}.new")
    temporary.write_text(json.dumps(facts))
    temporary.replace(file)


def read(file: Path) -> dict[str, Any]:
    """Empty where there are none."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def lock(file: Path) -> int:
    """A descriptor that keeps it locked, however its process ends."""
    fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def locked(file: Path) -> bool:
    """Who locked it lives. FileNotFoundError where it was never made; what may not be looked at is
    taken for locked."""
    try:
        fd = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False
