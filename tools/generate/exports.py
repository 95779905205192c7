"""Prints the MPI functions that a libmpi exports: the list a stub is made from.

exports.py /usr/lib/x86_64-linux-gnu/libmpi.so.40 > src/preload/exports/ompi-4.1.txt
"""

from __future__ import annotations

import argparse
import re
import subprocess


def functions(nm_output: str) -> list[str]:
    """MPI_X and PMPI_X names of functions (not data, not Fortran) in `nm -D` output, sorted."""
    pattern = re.compile(r"^[0-9a-f]+ [TW] (P?MPIX?_(?:T_)?[A-Z][a-z]\w*)(?:@.*)?$", re.MULTILINE)
    return sorted(set(pattern.findall(nm_output)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    args = parser.parse_args()
    nm = ["nm", "-D", "--defined-only", args.library]
    output = subprocess.run(nm, capture_output=True, text=True, check=True).stdout
    print("\n".join(functions(output)))


if __name__ == "__main__":
    main()
