"""Jobs by `isthmus submit` in the lab. A stand-in for Slurm starts each batch script at once, on
the cluster's frontend."""

from __future__ import annotations

import sys
from pathlib import Path

GRID = "".join(f"[cluster.{site}]\nhost = '{site}0'\nscheduler = 'slurm'\n" for site in "ab")
_TOOLS = {
    "sbatch": 'for script; do :; done; setsid sh "$script" >/dev/null 2>&1 & echo 1',
    "squeue": "echo RUNNING None",
    "scancel": "exit 0",
}


def prepare(folder: Path, path: str) -> dict[str, str]:
    """Makes the tools and homes; the environment of the job."""
    tools, home = folder / "tools", folder / "home"
    for made in (tools, home):
        made.mkdir()
    for name, script in _TOOLS.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    return {
        "PATH": f"{tools}:{path}",
        "HOME": str(home),
        "ISTHMUS_HOME": str(folder),
    }


def submitting(lab: Path, words: list[str]) -> list[str]:
    """The command that submits from a frontend, then shows the job until its end."""
    isthmus = f"{sys.executable} -m isthmus"
    script = (
        f'{isthmus} submit --meet 10.1.255.1 -n 4 "$@" && '
        f'exec {isthmus} attach "$(ls "$ISTHMUS_HOME/jobs")"'
    )
    return [str(lab / "bin" / "enter"), "a0", "sh", "-c", script, "sh", *words]
