"""Includes between folders run one way, as the table of docs/architecture.md says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = {
    "bench": "bench",
    "lab": "lab",
    "tcp": "bench",
    "sim": "bench",
    "papers": "bench",
}  # how `#include "X/...` names a folder


def table() -> dict[str, set[str]]:
    """Maps each folder of C++, by its last name, to the folders that it may include."""
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| `([a-z/]+)` \|.*\| (.*) \|$", text, re.MULTILINE)
    return {
        folder: set() if allowed == "nothing of ours" else set(re.findall(r"`([a-z]+)`", allowed))
        for folder, allowed in rows
        if allowed.strip()
    }


ALLOWED = table()
NAMES = OURS | {Path(folder).name: Path(folder).name for folder in ALLOWED}


def included(source: Path) -> set[str]:
    """The folders of ours that a source names; a plain "x.hpp" is of its own."""
    found = re.findall(r'^\s*#\s*include\s+"([^"/]+)/', source.read_text(), re.MULTILINE)
    return {NAMES.get(name, f"{name} (which docs/architecture.md does not have)") for name in found}


def sources(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".cpp", ".hpp")]


def test_the_table_has_every_folder():
    folders = {f"src/{path.name}" for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert set(ALLOWED) == folders | {"bench", "lab"}


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_includes_only_what_it_may(folder):
    may = ALLOWED[folder] | {Path(folder).name}
    assert sources(folder)
    wrong = {
        f"{source.relative_to(ROOT)} includes {name}"
        for source in sources(folder)
        for name in included(source) - may
    }
    assert not wrong


def test_of_some_folders_only_a_part_may_be_included():
    text = (ROOT / "docs/architecture.md").read_text()
    row = r"^\| `([a-z/]+)` \|.*`([a-z]+)`, and of it only `([a-z]+/)` \|$"
    found = re.findall(row, text, re.MULTILINE)
    assert found
    wrong = {
        f"{source.relative_to(ROOT)} includes {name}"
        for folder, other, part in found
        for source in sources(folder)
        for name in re.findall(rf'#\s*include\s+"({other}/[^"]+)"', source.read_text())
        if not name.startswith(f"{other}/{part}")
    }
    assert not wrong


def test_no_folder_is_above_itself():
    below = {Path(folder).name: set(allowed) for folder, allowed in ALLOWED.items()}
    for _ in below:
        for name, known in below.items():
            below[name] = known.union(*(below[other] for other in known))
    assert not [name for name, known in below.items() if name in known]
