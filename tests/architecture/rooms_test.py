"""Rooms of folders in src: each includes only those before it (docs/architecture.md)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHAPTERS = {
    "mpi": "The rooms of a face",
    "daemon": "The rooms of the daemon",
    "core": "The rooms of the core",
    "net": "The rooms of the network",
}


def order(folder: str) -> list[str]:
    text = (ROOT / "docs/architecture.md").read_text()
    chapter = text.split(f"\n## {CHAPTERS[folder]}\n")[1].split("\n## ")[0]
    return re.findall(r"^    ([a-z0-9]+)/ {2,}\S", chapter, re.MULTILINE)


ORDERS = {folder: order(folder) for folder in CHAPTERS}


@pytest.mark.parametrize("folder", CHAPTERS)
def test_the_order_names_every_room(folder):
    paths = [path for path in (ROOT / "src" / folder).iterdir() if path.is_dir()]
    # Programs that fuzz use all of a folder.
    assert set(ORDERS[folder]) == {path.name for path in paths} - {"fuzz"}


@pytest.mark.parametrize("folder", ["core", "net"])
def test_no_file_is_beside_the_rooms(folder):
    assert [path.name for path in (ROOT / "src" / folder).glob("*.*")] == ["CMakeLists.txt"]


@pytest.mark.parametrize(
    "room", [f"{folder}/{room}" for folder, rooms in ORDERS.items() for room in rooms]
)
def test_a_room_includes_only_those_before_it(room):
    folder, name = room.split("/")
    sources = [p for p in (ROOT / "src" / room).rglob("*") if p.suffix in (".cpp", ".hpp")]
    assert sources
    may = ORDERS[folder][: ORDERS[folder].index(name) + 1]
    wrong = {
        f"{path.relative_to(ROOT)} includes {included}"
        for path in sources
        for included in re.findall(rf'#include "{folder}/([^"]+)"', path.read_text())
        if included.split("/")[0] not in may
    }
    assert not wrong
