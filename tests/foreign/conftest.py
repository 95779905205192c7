"""A grid of two machines: this host, and one with another processor (tools/foreign_host), which
the option --processor names. Isthmus there is that of tools/foreign, or in the folder that
FOREIGN_PREFIX names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import ran

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "faults"))

from faulty import AS_ROOT, Grid  # noqa: E402

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor", default="aarch64", choices=["aarch64", "s390x"])


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
        """Two ranks here and two there, with the MPI library `mpi` on each."""
        prefix = prefix_of(self.processor)
        self.write(GRID.format(processor=self.processor, prefix=prefix, mpi=mpi))
        here = self._compile(source, "here", f"mpicc.{mpi}")
        there = self._compile(source, "there", *self._compilers[mpi])
        parts = ["--on", "here", "-n", 2, here, *arguments, ":"]
        return self.run("-g", self.file, *parts, "--on", "there", "-n", 2, there, *arguments)


@pytest.fixture
def processor(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--processor"))


@pytest.fixture
def two_machines(processor: str, tmp_path: Path) -> Iterator[TwoMachines]:
    ssh = Path(__file__).with_name("ssh")
    made = TwoMachines(processor, tmp_path, {**os.environ, **AS_ROOT, "ISTHMUS_SSH": str(ssh)})
    yield made
    made.check_nothing_is_left()
