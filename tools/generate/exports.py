"""Prints the MPI functions that a libmpi exports: the list a stub is made from.

exports.py /usr/lib/x86_64-linux-gnu/libmpi.so.40 > src/preload/exports/ompi-4.1.txt

A line names a function, whose profiling name PMPI_X the library exports, too. The word "alone"
follows a function that has none.
"""

from __future__ import annotations

import argparse
import re
import subprocess


def functions(nm_output: str) -> list[str]:
    """MPI_X and PMPI_X names of functions (not data, not Fortran) in `nm -D` output, sorted."""
    pattern = re.compile(r"^[0-9a-f]+ [TW] (P?MPIX?_(?:T_)?[A-Z][a-z]\w*)(?:@.*)?$", re.MULTILINE)
    return sorted(set(pattern.findall(nm_output)))


def lines(names: list[str]) -> list[str]:
    """The list of these functions, without the profiling names that follow from others."""
    known = set(names)
    return [
        name if f"P{name}" in known else f"{name} alone"
        for name in names
        if not (name.startswith("P") and name[1:] in known)
    ]


def names(text: str) -> list[str]:
    """All functions of a list, sorted."""
    words = [line.split() for line in text.splitlines()]
    with_profiling = [f"P{name}" for name, *alone in words if not alone]
    return sorted([name for name, *_ in words] + with_profiling)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    args = parser.parse_args()
    nm = ["nm", "-D", "--defined-only", args.library]
    output = subprocess.run(nm, capture_output=True, text=True, check=True).stdout
    print("\n".join(lines(functions(output))))


if __name__ == "__main__":
    main()
