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


# Two sites that only dial out, and a relay between them.
WALLED_IN = [
    "chain", "--nodes", "2",
    "--set", "site.a.firewall=outgoing", "--set", "site.c.firewall=outgoing",
]  # fmt: skip
RELAYED = """
[cluster.a]
host = "a0"
hosts = "a[1-2]"
[cluster.c]
host = "c0"
hosts = "c[1-2]"
"""
RELAY = '[[relay]]\nhost = "b0"\naddress = "10.2.255.1:7500"\n'


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


def shares(program: Path, clusters: str, each: int) -> dict[str, int]:
    """Returns ranks by cluster. Their number is the largest of the program's head that the slots
    hold. They use as many clusters as possible, and always the last. Empty: no number fits."""
    fitting = [n for n in mpis.ranks_of(program) if 2 <= n <= each * len(clusters)]
    if not fitting:
        return {}
    ranks = max(fitting)
    used = clusters if ranks >= len(clusters) else clusters[: ranks - 1] + clusters[-1]
    return {c: (ranks + i) // len(used) for i, c in enumerate(used)}


def run_by_head(
    lab, clusters: str, each: int, libraries: Sequence[str], program: Path, seconds: float, *options
) -> str:
    """Like `run`, with the number of ranks that the program's head names; `options` of
    `isthmus run`."""
    words: list[object] = []
    of_cluster = dict(zip(clusters, libraries, strict=False))
    for site, ranks in shares(program, clusters, each).items():
        words += [":"] if words else []
        words += ["--on", site, "-n", ranks, *command(of_cluster[site], program)]
    return _done(lab, seconds, *options, *words)


def run(lab, testbed: str, libraries: Sequence[str], program: Path, seconds: float = 120) -> str:
    """One program over all sites, each under its own library, a rank on each node; what it
    printed. Ends in time."""
    words: list[object] = []
    if len(set(libraries)) == 1:
        words = command(libraries[0], program)
    else:
        for site, mpi in zip(sites(testbed), libraries, strict=True):
            words += [":"] if words else []
            words += ["--on", site, "-n", nodes(testbed), *command(mpi, program)]
    return _done(lab, seconds, *words)


def _done(lab, seconds: float, *words: object) -> str:
    """Returns what `isthmus run` printed with these words."""
    done = lab.exec(
        sys.executable, "-m", "isthmus", "run", "--timeout", seconds, *words,
        timeout=seconds + 60,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n--- stderr\n{done.stderr[-4000:]}"
    return done.stdout
