"""Jobs that were submitted from here: a folder each, where other terminals find them."""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.base import facts
from isthmus.base.errors import RunError, UsageError, did_you_mean, listing
from isthmus.base.home import below
from isthmus.queues.submission import cancel_all, part_of

_KEPT = 30 * 86400.0  # seconds that the folder of a job that has ended stays


def home() -> Path:
    """The folder that holds the folders of jobs."""
    if named := below("jobs"):
        return named
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "isthmus" / "jobs"


@dataclass(frozen=True)
class Place:
    """A job's folder."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    def file(self, name: str) -> Path:
        return self.folder / name

    def note(self, name: str, noted: dict[str, Any]) -> None:
        facts.write(self.file(name), noted)

    def facts(self, name: str) -> dict[str, Any]:
        """Returns an empty dictionary if the file does not exist."""
        return facts.read(self.file(name))

    def forget_keys(self) -> None:
        """Removes the keys of parts on this host, and of those submitted by hand."""
        for file in (*self.folder.glob("*.pem"), *self.folder.glob("*.submit")):
            with contextlib.suppress(OSError):
                file.unlink()

    def lock(self) -> int:
        """The job's orchestrator holds it as long as it lives, however it ends."""
        return facts.lock(self.file("lock"))

    @property
    def lives(self) -> bool:
        try:
            return facts.locked(self.file("lock"))
        except FileNotFoundError:
            return False


def create(name: str) -> Place:
    """RunError if it cannot be made."""
    folder = home() / name
    try:
        folder.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise RunError(
            f"cannot make the job's folder {folder}: {error.strerror}",
            "Set ISTHMUS_HOME to a folder where you may write.",
        ) from None
    return Place(folder)


def every() -> Iterator[Place]:
    """The jobs, the latest last. Folders of jobs that ended long ago are removed."""
    folders = sorted(home().glob("*/"), key=lambda f: f.stat().st_mtime) if home().is_dir() else []
    for folder in folders:
        place = Place(folder)
        if not place.lives and folder.stat().st_mtime < time.time() - _KEPT:
            if place.facts("state.json").get("state") != "ended":  # its parts may still be queued
                cancel_all([part_of(part) for part in place.facts("job.json").get("parts", [])])
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)
        else:
            yield place


def find(name: str) -> Place:
    """Finds a job by its name, or by the beginning or end of that."""
    known = {place.name: place for place in every()}
    found = [n for n in known if n == name or n.startswith(name) or n.endswith(name)]
    if len(found) == 1 or name in known:
        return known[name if name in known else found[0]]
    if found:
        raise UsageError(f"several jobs match '{name}': {listing(found)}")
    near = did_you_mean(name, known)
    raise UsageError(f"there is no job '{name}'{near}", "`isthmus jobs` lists them.")
