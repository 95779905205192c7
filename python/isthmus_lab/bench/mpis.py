"""The native MPIs of this host: those that are asked for, else all that are found."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import UsageError
from isthmus.measuring.ends import End

# Without these, Open MPI tells root nothing, not even its version.
_AS_ROOT = {
    f"{name}_ALLOW_RUN_AS_ROOT{confirm}": "1"
    for name in ("OMPI", "PRTE")
    for confirm in ("", "_CONFIRM")
}
_DEBIAN = {
    "openmpi": ("mpicc.openmpi", "mpirun.openmpi"),
    "mpich": ("mpicc.mpich", "mpirun.mpich"),
}


@dataclass(frozen=True)
class Mpi:
    """`name` is for `isthmus lab mpirun --mpi`; `family` is "openmpi" or "mpich"; `networks` are
    those an MPICH was built with: "ucx", "ofi"."""

    key: str
    label: str
    name: str
    family: str
    mpicc: str
    networks: frozenset[str] = frozenset()


def find(wanted: Sequence[str]) -> list[Mpi]:
    """UsageError for a wanted one that does not exist or is not known."""
    names = list(wanted) or [*_DEBIAN, *_of_checkout()]
    found: dict[str, Mpi] = {}
    for name in names:
        mpi = _examine(name)
        if mpi is None and wanted:
            raise UsageError(
                f"--native {name}: not 'openmpi' or 'mpich' as Debian installs them, nor the "
                "folder of an Open MPI or MPICH with bin/mpicc and bin/mpirun"
            )
        if mpi is not None:
            found.setdefault(mpi.key, mpi)
    return list(found.values())


def mpicc_at(end: End, natives: Sequence[Mpi]) -> str:
    """The compiler of the MPI at this end: its cluster's MPI, else the first of this host."""
    if end.mpi:
        return f"{end.mpi}/bin/mpicc"
    return natives[0].mpicc if natives and not end.compile_on else "mpicc"


def _of_checkout() -> list[str]:
    source = Path(__file__).parents[3]
    return [str(path) for path in (source / ".venv/openmpi", source / ".venv/mpich")]


def _examine(name: str) -> Mpi | None:
    if name in _DEBIAN:
        mpicc, launcher = (shutil.which(program) for program in _DEBIAN[name])
    else:
        folder = Path(name).expanduser() / "bin"
        mpicc, launcher = (_executable(folder / program) for program in ("mpicc", "mpirun"))
    if not mpicc or not launcher:
        return None
    said = _said(launcher, "--version")
    if version := re.search(r"(?:Open MPI|OpenRTE)\)? v?(\d+)\.(\d+)[.\d]*", said):
        family, label = "openmpi", "Open MPI"
    elif "HYDRA" in said and (version := re.search(r"Version:\s*(\d+)\.(\d+)", said)):
        family, label = "mpich", "MPICH"
    else:
        return None
    key, label = f"{family}{version[1]}.{version[2]}", f"{label} {version[1]}.{version[2]}"
    networks: frozenset[str] = frozenset()
    if family == "mpich":
        device = re.search(r"MPICH Device:(.*)", _said(str(Path(mpicc).with_name("mpichversion"))))
        networks = frozenset(re.findall(r"ucx|ofi", device[1] if device else ""))
    return Mpi(key, label, name, family, mpicc, networks)


def _said(*command: str) -> str:
    """The output of a program; empty if it cannot be run."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **_AS_ROOT},
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _executable(path: Path) -> str | None:
    return str(path) if os.access(path, os.X_OK) else None
