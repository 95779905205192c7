"""Detects a native launcher that has started this command several times."""

import os
from collections.abc import Mapping
from pathlib import Path

from isthmus.base.errors import UsageError

# Each launcher puts the number of processes into one of these variables.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
_LAUNCHERS = (
    "mpirun", "mpiexec", "orterun", "orted", "prterun", "prted", "prte", "hydra_pmi_proxy",
    "slurmstepd", "flux-shell",
)  # fmt: skip


def check(environ: Mapping[str, str], parent: str | None = None) -> None:
    """UsageError if the parent is a launcher that started more than one process. A rank that runs
    `isthmus` itself has another parent, or is alone in its program."""
    sizes = [int(environ[name]) for name in _SIZES if environ.get(name, "").isdecimal()]
    if max(sizes, default=1) < 2:
        return
    name = _parent() if parent is None else parent
    if name.partition(".")[0] in _LAUNCHERS:
        raise UsageError(
            f"{name} has started `isthmus run` {max(sizes)} times, but one `isthmus run` starts "
            "all ranks",
            "Call `isthmus run -n N PROGRAM` alone, without a native launcher before it.",
        )


def _parent() -> str:
    """The name of the parent process; empty where the system does not say it."""
    try:
        return Path(f"/proc/{os.getppid()}/comm").read_text().strip()
    except OSError:
        return ""
