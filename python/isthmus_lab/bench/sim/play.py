"""Runs isthmus-sim."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus_lab.bench.sim.results import SimRun, run_from_text

_TOO_MUCH = 3  # isthmus-sim's status if messages or memory exceed its limits


@dataclass(frozen=True)
class SimTask:
    """`algorithm` as in ISTHMUS_COLL; empty: the one that is chosen."""

    collective: str
    bytes: int
    clusters: int
    ranks: int
    network: str
    algorithm: str = ""

    def words(self) -> list[str]:
        words = ["--collective", self.collective, "--bytes", str(self.bytes)]
        words += ["--clusters", str(self.clusters), "--ranks", str(self.ranks)]
        words += ["--network", self.network] if self.network else []
        return words + (["--algorithm", self.algorithm] if self.algorithm else [])


class TooMuchError(RunError):
    """Too large for a simulation; other simulations go on."""


def simulate(program: Path, task: SimTask, patience: float) -> SimRun:
    argv = [str(program), *task.words()]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        raise TooMuchError(
            f"{task.collective} of {task.bytes} B among {task.ranks} ranks "
            f"{'by ' + task.algorithm + ' ' if task.algorithm else ''}was not simulated within "
            f"{patience:.0f} s",
            "Give it more time by --timeout, or use fewer ranks.",
        ) from None
    except OSError as error:
        raise RunError(f"cannot run {program}: {error.strerror}") from None
    if done.returncode == 0:
        return run_from_text(done.stdout, task.algorithm)
    said = done.stderr.strip().removeprefix("isthmus-sim: ") or f"status {done.returncode}"
    raise (TooMuchError if done.returncode == _TOO_MUCH else RunError)(f"isthmus-sim: {said}")


def algorithms(program: Path) -> dict[str, list[str]]:
    """The collectives that can be simulated, and the names of their algorithms."""
    done = subprocess.run(
        [str(program), "--list"], capture_output=True, text=True, timeout=30, check=False
    )
    try:
        return {
            str(kind): [str(name) for name in names]
            for kind, names in json.loads(done.stdout).items()
        }
    except (ValueError, AttributeError):
        raise RunError(
            f"{program} --list printed an invalid list: {done.stdout or done.stderr}"
        ) from None
