"""Reads from the sources of the face which functions they define, with notes."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
FACE = HERE.parent.parent / "src" / "mpi"

ENTRY = re.compile(r"^ISTHMUS_MPI\((\w+)\)")
NOTE = re.compile(r"^// coverage:\s*(.*)")


def entries(folder: Path = FACE) -> dict[str, str]:
    """X -> note, for every ISTHMUS_MPI(X) at the start of a line. The note is the comment
    `// coverage: ...` (and the comment lines that follow it) directly above, #if lines apart."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.cpp")):
        lines = [x for x in path.read_text().splitlines() if not x.startswith("#if")]
        for i, line in enumerate(lines):
            if match := ENTRY.match(line):
                found[match.group(1)] = _note_above(lines, i)
    return found


def _note_above(lines: list[str], i: int) -> str:
    comment: list[str] = []
    while i > 0 and lines[i - 1].startswith("//"):
        i -= 1
        comment.insert(0, lines[i])
    for start, line in enumerate(comment):
        if match := NOTE.match(line):
            rest = [x.removeprefix("//").strip() for x in comment[start + 1 :]]
            return " ".join([match.group(1).strip(), *rest])
    return ""


def rows(path: Path) -> dict[str, str]:
    """The `NAME = "text"` lines of a file (the part of TOML that Python 3.10 can do without)."""
    pattern = re.compile(r'^(\w+)\s*=\s*"([^"]*)"\s*$', re.MULTILINE)
    return dict(pattern.findall(path.read_text()))


def native_ok() -> dict[str, str]:
    return rows(HERE / "native_ok.toml")


def refusals() -> dict[str, str]:
    return rows(HERE / "refused.toml")


def refused_on_grid() -> dict[str, str]:
    return rows(HERE / "refused_on_grid.toml")


def reason(mpi_name: str, reasons: dict[str, str]) -> str:
    """Why a function is refused: that of the longest prefix of its name that has one."""
    fits = [p for p in reasons if mpi_name.startswith(p)]
    return reasons[max(fits, key=len)] if fits else ""
