"""Writes the rows that were seen into docs/reliability.md."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from rows import LIBRARIES, Row

PAGE = Path(__file__).parents[3] / "docs" / "reliability.md"
_FOLDER = re.compile(r"/\S*/build/faults/row-\w+/")  # of a row, in this checkout
BEGIN, END = "<!-- rows: `make faults` writes them -->", "<!-- end of rows -->"


def write(kept: Path, rows: Sequence[Row]) -> None:
    """Replaces the rows of the page that were run; the others stay as they are."""
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    before, _, tail = rest.partition(END)
    seen: dict[tuple[str, str], dict[str, object]] = {}
    for file in kept.glob("*.json"):
        one = json.loads(file.read_text())
        seen[one["row"], one["library"]] = one
    old = {tuple(line.split(" | ")[:2]): line for line in before.splitlines()}
    lines = [
        "| fault | library | what follows | seconds | what is said | left behind |",
        "|" + "---|" * 6,
    ]
    for row in rows:
        for library in sorted(LIBRARIES):
            if one := seen.get((row.name, library)):
                lines.append(_line(row, library, one))
            elif line := old.get((f"| {row.name}", library)):
                lines.append(line)
    PAGE.write_text(f"{head}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{tail}")


def _line(row: Row, library: str, one: dict[str, object]) -> str:
    if one.get("wrong"):
        follows = f"**wrong**: {one['wrong']}"
    elif row.status == 0 or one.get("went_on"):
        follows = "goes on, every byte right"
    else:
        follows = f"ends with status {one['status']}"
    left = ", ".join(map(str, one.get("left") or [])) or "nothing"
    seconds = one.get("seconds")
    cells = [
        row.name, library, follows,
        f"{seconds:.0f}" if isinstance(seconds, (int, float)) else "",
        _FOLDER.sub(".../", str(one.get("sentence") or "")), left,
    ]  # fmt: skip
    return (
        "| "
        + " | ".join(cell.replace("|", "\\|").replace("\n", " ")[:300] for cell in cells)
        + " |"
    )
