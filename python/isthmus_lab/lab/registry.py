"""The labs that run: one folder each, known to all terminals of a user.

A lab's processes hold a lock on its folder. The lock ends with them, however they end. So an
unlocked folder is a leftover, and the next process that sees it removes it.
"""

import contextlib
import os
import secrets
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from isthmus.base import facts
from isthmus.base.errors import RunError, UsageError, listing
from isthmus.base.home import below
from isthmus_lab.lab import cpus


def home() -> Path:
    """The folder that holds the folders of labs."""
    if named := below("labs"):
        return named
    if os.geteuid() == 0 and "ISTHMUS_LAB" not in os.environ:
        return Path("/run/isthmus-lab")
    if inside := os.environ.get("ISTHMUS_LAB"):
        return Path(inside).parent
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "isthmus-lab" if runtime else Path(f"/tmp/isthmus-lab-{os.getuid()}")


@dataclass(frozen=True)
class Lab:
    """A lab's folder."""

    folder: Path

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def grid(self) -> Path:
        return self.folder / "grid.toml"

    @property
    def tools(self) -> Path:
        return self.folder / "bin"

    def namespace(self, node: str, kind: str = "net") -> Path:
        return self.folder / "ns" / f"{node}.{kind}"

    def control(self, link: str) -> Path:
        return self.folder / f"{link}.sock"

    def note(self, noted: dict[str, object]) -> None:
        """Writes down facts for other terminals; a lab with a note is built."""
        facts.write(self.folder / "lab.json", noted)

    @property
    def cpus(self) -> str:
        """The name of its group of the CPU controller."""
        return f"{cpus.LABS}{self.id}"

    def init(self) -> int:
        """The first process of the lab, by its number outside of the lab."""
        try:
            return int((self.folder / "init").read_text())
        except (OSError, ValueError):
            raise RunError(f"lab {self.id} is being built or taken down") from None

    def facts(self) -> dict[str, object]:
        return facts.read(self.folder / "lab.json")


def create(testbed: str) -> tuple[Lab, int]:
    """The folder of a new lab, and the descriptor that locks it."""
    sweep()
    folder = home() / f"{testbed}-{secrets.token_hex(3)}"
    try:
        home().mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_home()
        folder.mkdir(mode=0o700)
        for name in ("ns", "bin", "shm"):
            (folder / name).mkdir()
        # It is locked before it has its name, so that nobody finds it unlocked.
        lock = facts.lock(folder / "lock.new")
        (folder / "lock.new").rename(folder / "lock")
    except OSError as error:
        raise RunError(
            f"cannot make the lab's folder {folder}: {error.strerror}",
            "Set ISTHMUS_HOME to a folder where you may write.",
        ) from None
    return Lab(folder), lock


def _check_home() -> None:
    """RunError where another user may have put something there: labs are entered, and removed, by
    what stands in their folders."""
    try:
        about = home().lstat()
    except OSError:
        return  # whoever needs it says so
    if stat.S_ISLNK(about.st_mode):
        wrong = "is a symbolic link"
    elif about.st_uid != os.geteuid():
        wrong = "belongs to another user"
    elif about.st_mode & 0o022:
        wrong = "may be written to by other users"
    else:
        return
    raise RunError(
        f"{home()}, where labs are, {wrong}", "Set ISTHMUS_HOME to a folder of your own."
    )


def remove(lab: Lab) -> None:
    """Removes the folder of a lab whose processes are gone."""
    shutil.rmtree(lab.folder, ignore_errors=True)
    cpus.remove(lab.cpus)
    with contextlib.suppress(OSError):
        home().rmdir()  # if this was the last one


def sweep() -> list[Lab]:
    """Removes leftovers of killed labs; returns the labs that run."""
    running = []
    _check_home()
    try:
        folders = sorted(home().glob("*/")) if home().is_dir() else []
    except OSError as error:
        raise RunError(
            f"cannot look for labs in {home()}: {error.strerror}",
            "Set ISTHMUS_HOME to a folder of yours.",
        ) from None
    for folder in folders:
        lab = Lab(folder)
        if _alive(folder):
            running.append(lab)
        else:
            remove(lab)
    return running


def names() -> list[str]:
    """The labs that run."""
    return [lab.id for lab in sweep() if lab.facts()]


def _alive(folder: Path) -> bool:
    try:
        return facts.locked(folder / "lock")
    except FileNotFoundError:  # it is being made, unless it is old
        with contextlib.suppress(OSError):
            return time.time() - folder.stat().st_mtime < 10
        return False


def find(wanted: str | None, *, to_change: bool = False) -> Lab:
    """The lab that is meant: by its id or how that begins, else the one around this process, else
    the only one. Outside of labs `to_change` needs a name: somebody else may own the only one."""
    inside = os.environ.get("ISTHMUS_LAB")
    if wanted is None and inside:
        return Lab(Path(inside))
    running = [lab for lab in sweep() if "testbed" in lab.facts()]
    matching = [lab for lab in running if wanted is None or lab.id.startswith(wanted)]
    if len(matching) == 1 and (wanted or not to_change):
        return matching[0]
    if not running:
        raise UsageError("no lab runs", "Start one: isthmus lab run TESTBED -- COMMAND")
    names = listing(lab.id for lab in running)
    if not matching:
        raise UsageError(f"no lab '{wanted}' runs; there are {names}")
    count = "several labs run" if len(running) > 1 else "a lab runs"
    raise UsageError(f"no lab is named; {count}: {names}", "Say which with --lab.")
