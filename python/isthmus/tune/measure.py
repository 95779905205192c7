"""Runs the measuring program over a grid."""

import subprocess
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus.base.itself import itself
from isthmus.grid.grid import ClusterSpec, Grid
from isthmus.measuring.program import prepare
from isthmus.tune.figures import Figures, parse

_PROGRAM = Path(__file__).with_name("tune.c")
_MOST = 16  # ranks of a cluster, without -n
_LIMIT = 300.0  # seconds


def ranks_for(spec: ClusterSpec, n: int | None) -> int:
    """The number of ranks of a cluster that take part: as asked for, else its slots."""
    if n is not None:
        return min(n, spec.slots) if spec.slots else n
    return min(spec.slots or 2, _MOST)


def measure(file: Path, grid: Grid, n: int | None, mpicc: str) -> Figures:
    """One run. RunError if it fails."""
    command = [*itself(), "run", "-g", str(file)]
    for i, (name, spec) in enumerate(grid.cluster.items()):
        own = f"{spec.mpi}/bin/mpicc" if spec.mpi else mpicc
        program = prepare(own, spec.host, _PROGRAM)
        command += [":"] if i else []
        # Without figures of an earlier tuning.
        command += ["--on", name, "-n", str(ranks_for(spec, n)), "-x", "ISTHMUS_NETWORK=", program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise RunError(f"measuring took more than {_LIMIT:.0f} s") from None
    if done.returncode != 0:
        said = "".join(f"\n  | {line}" for line in done.stderr.strip().splitlines()[-6:])
        raise RunError(f"the measuring run ended with status {done.returncode}{said}")
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"clusters"')]
    if not lines:
        raise RunError("the measuring run printed no figures")
    return parse(lines[0])
