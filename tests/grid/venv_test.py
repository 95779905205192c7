"""Every rank runs the `python3` of an activated virtual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import ran

PROGRAM = """
import ctypes, os, sys
import only_here
mpi = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
rank, size = os.environ["ISTHMUS_RANK"], os.environ["ISTHMUS_SIZE"]
os.write(1, f"{rank} of {size} {sys.prefix} {only_here.VALUE}\\n".encode())
mpi.MPI_Finalize()
"""
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    made = tmp_path / "env"
    command = ["/usr/bin/python3", "-m", "venv", "--without-pip", made]
    subprocess.run(command, check=True, timeout=240)
    (packages,) = made.glob("lib/python3*/site-packages")
    (packages / "only_here.py").write_text("VALUE = 'found'\n")
    return made


@pytest.mark.parametrize("mpi", LIBRARIES)
def test_activated(environment: Path, mpi: str) -> None:
    run = ["-m", "isthmus", "run", "--mpi", mpi, "-n", "4", "python3", "-c", PROGRAM]
    activate = '. "$0/bin/activate" && exec "$@"'
    done = ran(
        ["bash", "-c", activate, environment, sys.executable, *run, LIBRARIES[mpi]],
        env={**os.environ, "ISTHMUS_START_TIMEOUT": "120"},
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    expected = [f"{rank} of 4 {environment} found" for rank in range(4)]
    assert sorted(done.stdout.splitlines()) == expected
