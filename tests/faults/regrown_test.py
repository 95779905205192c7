"""A spare cluster that has come fails as others do: by its gateway, or by its link."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, says
from running import Running

REGROW = Path(__file__).parents[1] / "grid/growing/regrow.c"
CLUSTERS = "[cluster.a]\n[cluster.b]\n[cluster.c]\nspare = true\n"


def until(running: Running, words: str) -> str:
    line = running.stderr.readline()
    while words not in line:
        assert line, f"it never says {words}"
        line = running.stderr.readline()
    return str(line)


@pytest.mark.parametrize(
    ("how", "why"),
    [(signal.SIGKILL, "gateway of cluster c: the agent was killed"), (signal.SIGSTOP, "is lost")],
)
def test_gateways_that_came_later_are_lost(grid: Grid, how: signal.Signals, why: str) -> None:
    """One is killed, and one is not heard within the links' patience. The program goes on with
    processes in the cluster that it has lost first."""
    program = grid.folder / "regrow"
    subprocess.run([COMPILERS["ompi"], "-o", program, REGROW], check=True)
    grid.write(f'patience = "3s"\n{CLUSTERS}')
    words = ["--survive", "-g", "grid.toml", "-n", 4, program, "b:c", "nobody:b"]
    with grid.start(*words) as running:
        says(running, "up\n")
        (gateway,) = grid.gateways()
        os.kill(gateway, how)
        assert why in until(running, 'cluster "c/1" has failed')
        until(running, 'cluster "b" is back')
        out, _ = running.communicate(timeout=240)
    assert (running.returncode, out) == (0, "4 ranks, sum 6\n")
