"""A grid of two machines: this host, and one of architecture aarch64 (tools/aarch64_host). Isthmus
there is that of tools/aarch64, or in the folder that AARCH64_PREFIX names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "faults"))

from faulty import AS_ROOT, Grid  # noqa: E402

BUILD = ROOT / "build" / "aarch64"
PREFIX = Path(os.environ.get("AARCH64_PREFIX") or BUILD / "prefix").resolve()
SYSROOT = ROOT / "build" / "aarch64-sysroot"

CROSS = ["aarch64-linux-gnu-gcc", f"--sysroot={SYSROOT}"]
OPENMPI = f"{SYSROOT}/usr/lib/aarch64-linux-gnu/openmpi"
COMPILERS = {
    "mpich": [*CROSS, f"-I{SYSROOT}/usr/include/aarch64-linux-gnu/mpich", "-lmpich"],
    "openmpi": [*CROSS, f"-I{OPENMPI}/include", f"-L{OPENMPI}/lib", "-lmpi"],
    "here": ["mpicc.openmpi"],
}

GRID = """
[cluster.here]

[cluster.arm]
host = "arm"
prefix = "{prefix}"
launch = "/usr/bin/mpiexec.{mpi}"

[[gateway]]
cluster = "arm"
address = "127.0.0.1"
"""


class TwoMachines(Grid):
    def compile(self, source: Path, mpi: str) -> Path:
        program = self.folder / f"{source.stem}.{mpi}"
        compiler, *options = COMPILERS[mpi]
        command = [compiler, "-O1", str(source), "-o", str(program), *options, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return program

    def run_on_both(
        self, source: Path, mpi: str, *arguments: str
    ) -> subprocess.CompletedProcess[str]:
        """Two ranks here and two there, where the MPI library is `mpi`."""
        self.write(GRID.format(prefix=PREFIX, mpi=mpi))
        here, there = self.compile(source, "here"), self.compile(source, mpi)
        parts = ["--on", "here", "-n", 2, here, *arguments, ":"]
        return self.run("-g", self.file, *parts, "--on", "arm", "-n", 2, there, *arguments)


@pytest.fixture
def two_machines(tmp_path: Path) -> Iterator[TwoMachines]:
    ssh = Path(__file__).with_name("ssh")
    made = TwoMachines(tmp_path, {**os.environ, **AS_ROOT, "ISTHMUS_SSH": str(ssh)})
    yield made
    made.check_nothing_is_left()
