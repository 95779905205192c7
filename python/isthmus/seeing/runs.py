"""The runs of this user on this host: each listens on a unix socket in a private folder."""

import contextlib
import json
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from isthmus.base import home
from isthmus.base.errors import RunError, UsageError, did_you_mean, listing

PATIENCE = 5.0  # seconds; a healthy run answers within two
_LONGEST_BASE = 48  # a socket's path may have 107 bytes
_LONGEST_NAMED = 80
MOST_ANSWER = 256 << 20


class GoneError(Exception):
    """The run has ended, or does not answer."""


def _name() -> str:
    return f"isthmus-runs-{os.getuid()}"


def _bases() -> list[Path]:
    """The best first: terminals of one user do not all know the same."""
    bases = [os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.getuid()}", "/tmp"]
    bases += [os.environ.get("TMPDIR", ""), "/dev/shm"]
    good = [b for b in bases if b.startswith("/") and len(b) <= _LONGEST_BASE and Path(b).is_dir()]
    return [Path(base) for base in dict.fromkeys(good)]


def _named() -> Path | None:
    """The folder in ISTHMUS_HOME, unless its path is too long for a socket."""
    named = home.below("runs")
    return named if named and len(str(named)) <= _LONGEST_NAMED else None


def folders() -> list[Path]:
    """Folders that only this user can have filled. Runs are looked for there."""
    if named := _named():
        there = [named]
    else:
        there = [found for base in _bases() for found in sorted(base.glob(f"{_name()}*"))]
    return [folder for folder in there if is_private(folder)]


def is_private(folder: Path) -> bool:
    """Whether nobody else can have put anything there."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077


def own_folder() -> Path:
    """The one for a new run. Another user who has taken its name in /tmp only makes it longer.
    Raises OSError if it does not exist."""
    if named := _named():
        return _made(named)
    trouble = OSError("no folder can hold a socket")
    for base in _bases():
        try:
            return _made(base / _name())
        except OSError as error:
            trouble = error
        there = [folder for folder in folders() if folder.parent == base]
        with contextlib.suppress(OSError):
            return there[0] if there else Path(tempfile.mkdtemp(prefix=f"{_name()}-", dir=base))
    raise trouble


def _made(folder: Path) -> Path:
    """OSError where it is not this user's alone."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
        folder.chmod(0o700)  # whatever the umask
    if not is_private(folder):
        raise OSError(f"{folder} is not this user's alone")
    return folder


class Line:
    """A connection to a run."""

    def __init__(self, path: Path) -> None:
        """ConnectionRefusedError if nobody listens any more."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(PATIENCE)
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rwb")

    def ask(self, what: str, **keys: object) -> dict[str, Any]:
        """Raises GoneError."""
        try:
            self._file.write(json.dumps({"ask": what, **keys}).encode() + b"\n")
            self._file.flush()
            answer = json.loads(self._file.readline(MOST_ANSWER))
        except (OSError, ValueError):
            raise GoneError from None
        if not isinstance(answer, dict):
            raise GoneError
        return answer

    def __enter__(self) -> "Line":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        for each in (self._file, self._socket):
            with contextlib.suppress(OSError):
                each.close()


@dataclass(frozen=True)
class Run:
    """A run with a socket; `about` is empty if the run does not answer, because it is stopped."""

    path: Path
    about: dict[str, Any]

    @property
    def job(self) -> str:
        return self.path.name

    @property
    def pid(self) -> int | None:
        pid = self.about.get("pid")
        return pid if isinstance(pid, int) else None


def every() -> list[Run]:
    """The living runs, the oldest first. Leftovers of killed runs are removed. UsageError if the
    user names a folder where others may write."""
    named = _named()
    if named and os.path.lexists(named) and not is_private(named):
        raise UsageError(
            f"ISTHMUS_HOME: {named} is not a folder of yours alone, so its runs are ignored",
            f"Close it to others (`chmod 700 {named}`), or name another folder.",
        )
    found = [run for folder in folders() for run in _those_in(folder)]
    return sorted(found, key=lambda run: run.about.get("started") or 0)


def _those_in(folder: Path) -> Iterator[Run]:
    for path in sorted(folder.glob("isthmus-*")):
        try:
            with Line(path) as line:
                about = line.ask("about")
        except ConnectionRefusedError:
            with contextlib.suppress(OSError):
                path.unlink()
            continue
        except GoneError:
            about = {}
        except OSError:  # it ended just now, or is stopped and its queue is full
            if not path.exists():
                continue
            about = {}
        yield Run(path, about)


def none() -> str:
    """The sentence for the lack of a run."""
    named = _named()
    absent = named and not os.path.lexists(named)
    where = f"; ISTHMUS_HOME names {named}, which does not exist" if absent else ""
    return f"you have no run on this host{where}"


def find(name: str | None) -> Run:
    """Finds a run by its name, the beginning or end of that, or the process id of its `isthmus
    run`. Without a name it finds the only run."""
    known = every()
    if not known:
        raise UsageError(f"there is no run '{name}': {none()}" if name else none(), _ELSEWHERE)
    if name is None:
        if len(known) > 1:
            raise UsageError(
                f"you have {len(known)} runs on this host: {listing(r.job for r in known)}",
                "Name one of them; `isthmus ps` shows more.",
            )
        return known[0]
    fits = [
        r for r in known if str(r.pid) == name or r.job.startswith(name) or r.job.endswith(name)
    ]
    exact = [r for r in known if r.job == name]
    if len(exact or fits) == 1:
        return (exact or fits)[0]
    if fits:
        raise UsageError(
            f"several runs match '{name}': {listing(r.job for r in fits)}", "Give more of the name."
        )
    near = did_you_mean(name, [run.job for run in known])
    raise UsageError(f"you have no run '{name}' on this host{near}", "`isthmus ps` lists them.")


_ELSEWHERE = (
    "Runs are shown on the host of their `isthmus run` or `isthmus submit`; `isthmus jobs` lists "
    "jobs that still wait in queues."
)


def connect(run: Run) -> Line:
    """RunError with a sentence if the run has ended."""
    try:
        return Line(run.path)
    except OSError:
        raise ended(run) from None


def ended(run: Run) -> RunError:
    if run.path.exists():
        return RunError(
            f"{run.job} does not answer",
            "Its `isthmus run` is stopped: continue it by `fg` or SIGCONT.",
        )
    return RunError(f"{run.job} has ended")
