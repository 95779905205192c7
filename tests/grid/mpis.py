"""The MPI libraries that the grid tests know, and how programs are built with each."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from running import ran

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "programs"
VENVS = ROOT / ".venv"


def compile_to(out: Path, *command: str | Path) -> Path:
    """Runs a compiler so that `out` is there whole or not at all: tests side by side build, and
    run, the same programs. Raises with what it says."""
    whole = out.with_name(f"{out.name}.{os.getpid()}")
    done = ran([*command, "-o", whole])
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return whole.replace(out)


@dataclass(frozen=True)
class Mpi:
    """One native MPI library."""

    name: str
    cc: str
    fc: str | None = None
    mpirun: str = ""
    python: str | None = None  # an interpreter whose mpi4py uses this library

    def build(self, source: Path, into: Path, flags: Sequence[str] = ()) -> Path:
        """Compiles a C or Fortran program once per run of the tests, always with the same flags;
        raises with the output."""
        out = into / self.name / source.relative_to(ROOT)
        if source.suffix == ".c":  # a Fortran program of the same name may stand beside it
            out = out.with_suffix("")
        shared = (ROOT / "tests/programs", ROOT / "include")
        newest = max(
            path.stat().st_mtime
            for folder in (source.parent, source.parents[1], *shared)
            for path in (source, *folder.glob("*.h"), *folder.glob("*.inc"))
        )
        if out.exists() and out.stat().st_mtime >= newest:
            return out
        out.parent.mkdir(parents=True, exist_ok=True)
        compiler = self.cc if source.suffix == ".c" else self.fc
        assert compiler, f"{self.name} has no Fortran compiler"
        # Programs with mpif.h pass buffers of many types to one routine, which gfortran allows only
        # on request.
        extra = ["-fallow-argument-mismatch", "-J", str(out.parent)]
        if source.suffix == ".c":
            extra = ["-pthread"]
        return compile_to(out, compiler, "-O1", "-g", "-Wall", *extra, *flags, source, "-lm")

    def build_text(self, text: str, out: Path) -> Path:
        """As `build`, a C program that a test holds."""
        source = out.with_name(f"{out.name}.{os.getpid()}.c")
        source.write_text(text)
        return compile_to(out, self.cc, source)


ALL = {
    mpi.name: mpi
    for mpi in (
        Mpi("openmpi4", "mpicc.openmpi", "mpif90.openmpi", "mpirun.openmpi"),
        Mpi("mpich4", "mpicc.mpich", "mpif90.mpich", "mpirun.mpich"),
        Mpi(
            "openmpi5",
            str(VENVS / "openmpi/bin/mpicc"),
            None,
            str(VENVS / "openmpi/bin/mpirun"),
            str(VENVS / "openmpi/bin/python"),
        ),
        Mpi(
            "mpich5",
            str(VENVS / "mpich/bin/mpicc"),
            None,
            str(VENVS / "mpich/bin/mpiexec"),
            str(VENVS / "mpich/bin/python"),
        ),
        Mpi("mpiabi5", str(VENVS / "mpich/bin/mpicc_abi"), None, str(VENVS / "mpich/bin/mpiexec")),
        Mpi(
            "intel2021",
            str(ROOT / "tools/mpicc_intel"),
            None,
            str(VENVS / "intel/bin/mpiexec"),
            str(VENVS / "intel/bin/python"),
        ),
    )
}

# Not of the set-up: `make grid-intel` installs Intel MPI, half a gigabyte, and tests with it alone.
CHOSEN = os.environ.get("TESTED_MPI", "")
TESTED = [CHOSEN] if CHOSEN else [name for name in ALL if name != "intel2021"]
SINGLE = [(name, name) for name in TESTED]
MIXED = [("openmpi4", "mpich4"), ("mpich5", "openmpi5"), ("mpiabi5", "openmpi4")]
if CHOSEN:
    MIXED = [(CHOSEN, "openmpi4"), ("mpich4", CHOSEN)]


def pythons() -> dict[str, str]:
    """The interpreters whose mpi4py uses a tested library, by its name."""
    return {name: ALL[name].python or "" for name in TESTED if ALL[name].python}


WITHOUT_SESSIONS = {"openmpi4"}


def on(**parts: Sequence[object]) -> list[object]:
    """The words of a run on several clusters. Each part is the number of ranks, the program and its
    arguments."""
    words: list[object] = []
    for cluster, part in parts.items():
        words += [*([":"] if words else []), "--on", cluster, "-n", *part]
    return words


def ranks_of(program: Path) -> list[int]:
    """The numbers of ranks that its head names."""
    found = re.search(r"ranks: ([\d ]+)", program.read_text()[:2000])
    return [int(n) for n in found.group(1).split()] if found else [4]


def needs_sessions(program: Path) -> bool:
    return "needs: sessions" in program.read_text()[:2000]


@cache
def missing() -> list[str]:
    """Compilers that are not there; the set-up installs every one of them."""
    return [mpi.cc for mpi in map(ALL.get, TESTED) if mpi and shutil.which(mpi.cc) is None]
