"""Runs a plan natively or over a grid, and tells what came of it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import building
from layouts import ORACLE, Layout

SECONDS = 90  # a plan takes a few


@dataclass(frozen=True)
class Plan:
    seed: int
    steps: str = "40"
    kinds: str = ""
    plant: int = -1  # a step with wrong contents, to be found
    plant_gap: int = -1  # a step with a wrong byte between those of a message

    @property
    def arguments(self) -> list[str]:
        kinds = ["--kinds", self.kinds] if self.kinds else []
        plants = ["--plant", str(self.plant)] if self.plant >= 0 else []
        gaps = ["--plant-gap", str(self.plant_gap)] if self.plant_gap >= 0 else []
        return [str(self.seed), "--steps", self.steps, *kinds, *plants, *gaps]


@dataclass(frozen=True)
class Outcome:
    right: bool
    what: str  # in a line
    text: str  # all output, and where each rank was
    command: str  # for a shell
    last_step: int  # that a rank has begun

    def __bool__(self) -> bool:
        return self.right


def reason(done: subprocess.CompletedProcess[str], output: str) -> str:
    wrong = re.search(r"storm: (WRONG .*)", output)
    if wrong:
        return wrong.group(1)
    late = re.search(r"isthmus: .*(?:timeout|--timeout).*", output)
    if late or done.returncode == 124:
        calls = re.findall(r"^ +rank \d.*", output, re.MULTILINE)
        return "a hang: " + ("; ".join(call.strip() for call in calls) or "nobody says where")
    return f"exit status {done.returncode}"


def trail_of(folder: Path) -> tuple[str, int]:
    """Returns the place of each rank, and the last step of all."""
    lines, last = [], -1
    for path in sorted(folder.glob("rank-*")):
        text = path.read_text().splitlines()
        lines.append(f"{path.name}: {text[-1] if text else 'no step'}\n")
        steps = re.findall(r"^step (\d+)", "\n".join(text), re.MULTILINE)
        last = max([last, *map(int, steps)])
    return "".join(lines), last


def play(command: list[str], trail: Path, env: dict[str, str]) -> Outcome:
    said = " ".join(f"{key}={value}" for key, value in env.items())
    own = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "UCX_LOG_LEVEL": "error",
    }
    limit = ["timeout", "-k", "10", str(SECONDS + 30)]
    done = subprocess.run(
        [*limit, *command],
        env=os.environ | own | env,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    output = done.stdout + done.stderr
    where, last = trail_of(trail)
    right = done.returncode == 0 and "storm: right" in done.stdout
    return Outcome(
        right,
        "right" if right else reason(done, output),
        f"{output}\n{where}",
        f"{said} {shlex.join(command)}".strip(),
        last,
    )


def natively(plan: Plan, ranks: int) -> Outcome:
    """Plays with one MPI library. A plan that has failed over a grid and fails here is illegal, or
    the library is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        program = building.program(ORACLE.name)
        places = ["--trail", folder, "--files", folder]
        words = [ORACLE.mpirun, "-n", str(ranks), str(program), *plan.arguments, *places]
        return play(words, Path(folder), {})


def over_grid(plan: Plan, layout: Layout, folder: Path) -> Outcome:
    """Keeps the grid file, and what ranks write, in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("rank-*"):
        old.unlink()
    arguments = [*plan.arguments, "--trail", str(folder), "--files", str(folder)]
    words = ["run", "--timeout", str(SECONDS), *layout.command(folder, arguments)]
    return play([sys.executable, "-m", "isthmus", *words], folder, layout.env)
