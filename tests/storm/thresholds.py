"""The numbers that the sources compare sizes with, for the steps that draw sizes around them.

They are read from the sources, so a new constant is tested from the day that it is written.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST, MOST = 64, 4 << 20  # bytes: smaller sizes are drawn anyway, larger ones take too long

# `constexpr std::size_t kName = std::size_t{16} << 10, kOther = 64 * 1024;`, on one line or two.
_DECLARATION = re.compile(r"constexpr\s+(?:std::size_t|std::u?int64_t|double)\s+(k\w+\s*=[^;]*);")
_VALUE = re.compile(r"(k\w+)\s*=\s*([^,]+)")
_TYPED = re.compile(r"std::\w+\{([^}]*)\}")


def evaluated(expression: str) -> int | None:
    """Returns the value of an expression of whole numbers; None for all others."""
    text = _TYPED.sub(r"(\1)", expression.replace("'", "")).replace("U", "")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return None
    allowed = (ast.Expression, ast.BinOp, ast.Constant, ast.LShift, ast.Mult, ast.Add)
    if not all(isinstance(node, allowed) for node in ast.walk(tree)):
        return None
    value = eval(compile(tree, "constant", "eval"))  # numbers and operators alone
    return value if isinstance(value, int) else None


def found_in(source: str) -> dict[str, int]:
    found = {}
    for declaration in _DECLARATION.finditer(source):
        for name, expression in _VALUE.findall(declaration.group(1)):
            value = evaluated(expression)
            if value is not None and LEAST <= value <= MOST:
                found[name] = value
    return found


def thresholds(folder: Path = ROOT / "src") -> dict[str, int]:
    """By file and name."""
    found = {}
    for path in sorted((*folder.rglob("*.hpp"), *folder.rglob("*.cpp"))):
        # The code there compares other things than the size of a program's data.
        if {"daemon", "fuzz"} & {*path.parts} or re.search("_test(bed)?$", path.stem):
            continue
        for name, value in found_in(path.read_text()).items():
            found[f"{path.relative_to(folder)}: {name}"] = value
    return found


def header(found: dict[str, int]) -> str:
    """The text of thresholds.hpp."""
    by_value: dict[int, list[str]] = {}
    for name, value in found.items():
        by_value.setdefault(value, []).append(name)
    rows = "".join(
        f"    {value},  // {'; '.join(names)}\n" for value, names in sorted(by_value.items())
    )
    return (
        "// Made by tests/storm/thresholds.py of the constants in src.\n#pragma once\n\n"
        "#include <vector>\n\nnamespace storm {\ninline const std::vector<int> kThresholds{\n"
        f"{rows}}};\n}}  // namespace storm\n"
    )


if __name__ == "__main__":
    print(header(thresholds()), end="")
