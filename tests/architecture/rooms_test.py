"""The rooms of the face: each includes only those before it (docs/architecture.md)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FACE = ROOT / "src/mpi"


def order() -> list[str]:
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^    ([a-z0-9]+)/ {2,}\S", text, re.MULTILINE)
    return rows[rows.index("native") :]


ORDER = order()


def test_the_order_names_every_room():
    assert set(ORDER) == {path.name for path in FACE.iterdir() if path.is_dir()}


@pytest.mark.parametrize("room", ORDER)
def test_a_room_includes_only_those_before_it(room):
    sources = [path for path in (FACE / room).rglob("*") if path.suffix in (".cpp", ".hpp")]
    assert sources
    may = ORDER[: ORDER.index(room) + 1]
    wrong = {
        f"{path.relative_to(FACE)} includes {name}"
        for path in sources
        for name in re.findall(r'#include "mpi/([^"]+)"', path.read_text())
        if name.split("/")[0] not in may
    }
    assert not wrong
