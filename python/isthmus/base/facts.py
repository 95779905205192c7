"""Files of facts that a process writes for other terminals, and a lock that lasts as long as the
process."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write(file: Path, facts: Mapping[str, Any]) -> None:
    """Replaces the whole file at once, so that nobody reads a part of it."""
    temporary = file.with_name(f"{file.name}.new")
    temporary.write_text(json.dumps(facts))
    temporary.replace(file)


def read(file: Path) -> dict[str, Any]:
    """Returns an empty dictionary if the file does not exist."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def lock(file: Path) -> int:
    """Returns a descriptor that keeps the file locked, however its process ends."""
    fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def locked(file: Path) -> bool:
    """Whether the process that locked it lives. FileNotFoundError if the file was never made. A
    file that may not be read counts as locked."""
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
