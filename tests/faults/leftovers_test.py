"""SIGKILL leaves nothing behind: no socket, no folder, no process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import Grid
from waiting import eventually

CHAIN = (
    "[cluster.east]\n[cluster.west]\n[cluster.south]\n"
    "[[link]]\nbetween = ['east', 'west']\n[[link]]\nbetween = ['west', 'south']\n"
)
# Each says which process of a run is killed.
VICTIMS = {
    "isthmus run": ("-m isthmus run",),
    "an agent": ("isthmusd", " agent"),
}


@pytest.fixture
def place(grid: Grid) -> Iterator[Path]:
    """The only folder in which the run may put sockets and other files of its own."""
    with tempfile.TemporaryDirectory(prefix="left-", dir="/tmp") as folder:
        runs = Path(folder) / "runs"
        runs.mkdir(mode=0o700)
        grid.environment |= {
            "XDG_RUNTIME_DIR": folder, "TMPDIR": folder, "ISTHMUS_HOME": folder,
        }  # fmt: skip
        yield Path(folder)


def of_isthmus(place: Path) -> list[Path]:
    """Native libraries name their folders after themselves."""
    return [*place.glob("isthmus-*"), *(place / "runs").glob("isthmus-*")]


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("options", [(), ("--trace", "run.trace")], ids=["plain", "traced"])
def test_a_killed_process(grid: Grid, place: Path, program, victim, options) -> None:
    grid.write(CHAIN)
    words = ["-g", "grid.toml", *options, "-n", 3, program("ompi"), "hang", -1]
    with grid.start(*words) as run:
        assert run.stdout.readline() == "up 3\n"
        there = of_isthmus(place)
        assert len([path for path in there if path.parent.name == "runs"]) == 1
        assert len([path for path in there if path.parent == place]) >= 3
        os.kill(grid.find(*VICTIMS[victim])[0], signal.SIGKILL)
        run.wait(240)
    eventually(lambda: not of_isthmus(place), "that no file is left behind")


def test_the_socket_of_links_by_ssh(tmp_path: Path) -> None:
    """And every other file of a launcher."""
    files = [tmp_path / "one", tmp_path / "another one"]
    for file in files:
        file.touch()
    script = (
        "import sys, os, isthmus.base.leftovers as l; x = l.Leftovers(*sys.argv[1:]); os.kill(0, 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *files], start_new_session=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    eventually(lambda: not any(file.exists() for file in files), "that the files go")
