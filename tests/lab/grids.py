"""Isthmus on standing labs: ranks on nodes of their own, clusters under their own MPIs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import mpis

SIZES = {
    "hablot": ["--nodes", "2"],
    "zipper": ["--nodes", "2", "--zippers", "2"],
    "chain": ["--nodes", "1"],
    "walled": ["--nodes", "2"],
}
BUILT = mpis.ROOT / "build" / "tests"


def sites(testbed: str) -> str:
    return "abc" if testbed == "chain" else "ab"


def nodes(testbed: str) -> int:
    """At each site, with one rank each."""
    return int(SIZES[testbed][1])


def command(mpi: str, program: Path) -> list[object]:
    """The program as a library's ranks start it, built for it where need be."""
    if program.suffix == ".py":
        python = mpis.ALL[mpi].python
        assert python, f"no mpi4py for {mpi}"
        return [python, program]
    return [mpis.ALL[mpi].build(program, BUILT)]


def run(lab, testbed: str, libraries: Sequence[str], program: Path, seconds: float = 120) -> str:
    """One program over all sites, each under its own library; what it printed. Ends in time."""
    words: list[object] = []
    if len(set(libraries)) == 1:
        words = command(libraries[0], program)
    else:
        for site, mpi in zip(sites(testbed), libraries, strict=True):
            words += [":"] if words else []
            words += ["--on", site, "-n", nodes(testbed), *command(mpi, program)]
    done = lab.exec(
        sys.executable, "-m", "isthmus", "run", "--timeout", seconds, *words, timeout=seconds + 60
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n--- stderr\n{done.stderr[-4000:]}"
    return done.stdout
