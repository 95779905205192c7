"""Files that are copied to clusters that lack them: `--stage`."""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import RunError, UsageError

_PIECE = 1 << 19  # bytes; a message of an agent's carries at most 1 MiB


@dataclass(frozen=True)
class StagedFile:
    """`path` as the user wrote it, which also decides where the file goes."""

    path: str
    size: int
    mode: int
    sha256: str

    def facts(self) -> dict[str, object]:
        """The keys of the `stage` message."""
        return {"path": self.path, "size": self.size, "mode": self.mode, "sha256": self.sha256}

    def pieces(self) -> Iterator[bytes]:
        try:
            with Path(self.path).open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece
        except OSError as error:
            raise RunError(f"--stage {self.path}: cannot be read: {error.strerror}") from None


def staged(path: str) -> StagedFile:
    """Raises UsageError if the file or a place for it does not exist."""
    if ".." in Path(path).parts:
        raise UsageError(
            f"--stage {path}: the file lies outside the working directory",
            "Give its absolute path, or run from a folder above it.",
        )
    file = Path(path)
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(
                f"--stage {path}: not a regular file", "Stage the files of a folder one by one."
            )
        import hashlib  # noqa: PLC0415  (5 ms, and few runs copy files; 2026-11)

        digest = hashlib.sha256()
        with file.open("rb") as source:
            while piece := source.read(_PIECE):
                digest.update(piece)
    except OSError as error:
        raise UsageError(f"--stage {path}: cannot be read: {error.strerror}") from None
    return StagedFile(path, found.st_size, stat.S_IMODE(found.st_mode), digest.hexdigest())
