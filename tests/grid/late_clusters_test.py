"""A cluster's ranks come late, as from a batch queue: the others wait, and the user hears why."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
from running import Running, shell_script


@pytest.mark.parametrize("library", ["openmpi4", "mpich5"])
def test_the_others_wait(programs: Path, tmp_path: Path, library: str, grid_with) -> None:
    mpi = mpis.ALL[library]
    started = tmp_path / "started"
    queue = shell_script(
        tmp_path / "queue",
        f"n=$1; shift\nwhile [ ! -e {started} ]; do sleep 0.1; done\n"
        f'exec {mpi.mpirun} -n "$n" "$@"',
    )
    grid = grid_with(f"[cluster.east]\n[cluster.west]\nlaunch = '{queue} {{n}} {{command}}'\n")
    program = mpi.build(mpis.PROGRAMS / "p2p/modes.c", programs)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with Running(
        [sys.executable, "-m", "isthmus", "run", "-g", grid, "-n", "4", program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **root},
    ) as running:
        try:
            assert running.stderr
            said = running.stderr.readline()
            while "cluster east" in said:  # it has been slow
                said = running.stderr.readline()
            west = "cluster west has not started yet: 0 of 2 ranks have joined"
            assert re.fullmatch(rf"isthmus: after \d+ s, {west}\n", said), said
            started.touch()
            out, err = running.communicate(timeout=240)
            assert running.returncode == 0, out + err
        finally:
            running.terminate()
