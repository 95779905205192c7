"""A grid of this host and one with another processor."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from faulty import Grid
from running import ran

ROOT = Path(__file__).resolve().parents[2]

GRID = """
[cluster.here]

[cluster.there]
host = "{processor}"
prefix = "{prefix}"
launch = "/usr/bin/mpiexec.{mpi}"

[[gateway]]
cluster = "there"
address = "127.0.0.1"
"""


def prefix_of(processor: str) -> Path:
    default = ROOT / "build" / processor / "prefix"
    return Path(os.environ.get("FOREIGN_PREFIX") or default).resolve()


class TwoMachines(Grid):
    def __init__(self, processor: str, folder: Path, environment: dict[str, str]) -> None:
        super().__init__(folder, environment)
        self.processor = processor
        sysroot = ROOT / "build" / f"{processor}-sysroot"
        libraries = f"{processor}-linux-gnu"
        cross = [f"{libraries}-gcc", f"--sysroot={sysroot}"]
        openmpi = f"{sysroot}/usr/lib/{libraries}/openmpi"
        self._compilers = {
            "mpich": [*cross, f"-I{sysroot}/usr/include/{libraries}/mpich", "-lmpich"],
            "openmpi": [*cross, f"-I{openmpi}/include", f"-L{openmpi}/lib", "-lmpi"],
        }

    def _compile(self, source: Path, where: str, compiler: str, *options: str) -> Path:
        program = self.folder / f"{source.stem}.{where}"
        command = [compiler, "-O1", str(source), "-o", str(program), *options, "-lm"]
        done = ran(command)
        assert done.returncode == 0, done.stderr
        return program

    def run_on_both(
        self, source: Path, mpi: str, *arguments: str
    ) -> subprocess.CompletedProcess[str]:
        """Two ranks here and two there, with the MPI library `mpi` on each. They succeed."""
        prefix = prefix_of(self.processor)
        self.write(GRID.format(processor=self.processor, prefix=prefix, mpi=mpi))
        here = self._compile(source, "here", f"mpicc.{mpi}")
        there = self._compile(source, "there", *self._compilers[mpi])
        parts = ["--on", "here", "-n", 2, here, *arguments, ":"]
        done = self.run("-g", self.file, *parts, "--on", "there", "-n", 2, there, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done
