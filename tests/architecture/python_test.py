"""Imports between the packages of Python: isthmus does not know isthmus_lab, and its own packages
import one way."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[2] / "python"
ISTHMUS = PYTHON / "isthmus"

# All that stands at the root: the entry point, the installed files, and what programs import.
ROOT = {"__init__", "__main__", "install", "pages", "survival", "topology", "version"}


def order() -> list[str]:
    """The packages of isthmus: each imports only those before it."""
    text = (PYTHON.parent / "docs/architecture.md").read_text()
    chapter = text.split("\n## The rooms of the launcher\n")[1].split("\n## ")[0]
    return re.findall(r"^    ([a-z]+)/ {2,}\S", chapter, re.MULTILINE)


ORDER = order()


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    """The modules and names that a file imports anywhere, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def packages(file: Path) -> set[str]:
    """The packages of isthmus that a file imports."""
    names = (name.split(".") for name in imported(file))
    return {words[1] for words in names if words[0] == "isthmus" and words[1] in ORDER}


def test_isthmus_does_not_know_isthmus_lab():
    assert not [
        f"{file.relative_to(PYTHON)} names isthmus_lab"
        for file in modules(ISTHMUS)
        if "isthmus_lab" in file.read_text()
    ]
    assert any("isthmus." in name for f in modules(PYTHON / "isthmus_lab") for name in imported(f))


def test_the_order_names_every_package():
    assert {*ORDER} == {path.parent.name for path in ISTHMUS.glob("*/__init__.py")}


@pytest.mark.parametrize("package", ORDER)
def test_a_package_imports_only_those_before_it(package):
    files = modules(ISTHMUS / package)
    assert files
    after = {*ORDER[ORDER.index(package) + 1 :]}
    assert not [
        f"{file.relative_to(ISTHMUS)} imports {name}"
        for file in files
        for name in packages(file) & after
    ]


def test_the_root_has_no_other_modules():
    assert {file.stem for file in ISTHMUS.glob("*.py")} == ROOT


def test_the_root_needs_only_the_lowest_package():
    files = [file for file in ISTHMUS.glob("*.py") if file.stem != "__main__"]
    assert {name for file in files for name in packages(file)} <= {"base"}
