"""The page of error messages: those of the command with a remedy, read from its sources."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "python/isthmus"
KINDS = {"UsageError": 0, "RunError": 0, "PlacedError": 1}  # where the sentence stands
HEAD = """# Error messages

The command names what is wrong, where, and what to do about it. This page lists its messages with
a remedy, by the part of the command that prints them. Words in capitals stand for names and
values. Most other messages say in the sentence itself what is allowed. Messages about lost ranks
and links are in [What a run survives](reliability.md).
"""
PARTS = {
    "Runs and the grid file": ("base", "cli", "doors", "grid", "job", "place", "run"),
    "`isthmus doctor`": ("doctor",),
    "`isthmus map`": ("mapping",),
    "Measuring, for `bench`, `doctor` and `tune`": ("measuring",),
    "Runs that meet": ("meeting",),
    "`isthmus profile`": ("profile",),
    "`isthmus submit` and jobs": ("queues",),
    "`isthmus ps`, `top` and `--trace`": ("seeing",),
    "`isthmus tune`": ("tune",),
}


def page() -> str:
    lines = [HEAD]
    for title, folders in PARTS.items():
        rows = sorted({row for folder in folders for row in _rows(FOLDER / folder)})
        if rows:
            lines += [f"## {title}", "", "| message | remedy |", "|---|---|"]
            lines += [f"| {_cell(said)} | {_cell(remedy)} |" for said, remedy in rows]
            lines.append("")
    return "\n".join(lines)


def _rows(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text())
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                first = KINDS.get(call.func.id)
                if first is not None and len(call.args) > first + 1:
                    said, remedy = (
                        _text(constants.get(arg.id, arg) if isinstance(arg, ast.Name) else arg)
                        for arg in call.args[first : first + 2]
                    )
                    if remedy and re.search(r"\b[a-z]{3}", said):  # more than names
                        yield said, remedy


def _text(node: ast.expr) -> str:
    """A string, with names in capitals for what is put into it; empty for other expressions."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _name(node.value)
    return ""


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id.upper().strip("_")
    if isinstance(node, ast.Attribute):
        return node.attr.upper().strip("_")
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        return f"docs/{node.args[0].value}"  # a page of the documentation
    if isinstance(node, ast.Call) and node.args:
        return _name(node.args[0])
    if isinstance(node, ast.Call):
        return _name(node.func)
    return "..."


def _cell(text: str) -> str:
    text = " ".join(text.split())
    for sign in "\\*_<|[]":
        text = text.replace(sign, f"\\{sign}")
    return text
