"""A run that a signal or a rank ends leaves no file of Isthmus beside the user's, nor files that
the program wanted to be deleted."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid

SOURCE = Path(__file__).with_name("files_left.c")


@pytest.mark.parametrize("library", ["ompi", "mpich"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("words", [[], [""], ["east"]], ids=["stays", "deleted", "elsewhere"])
def test_files_that_are_open(grid: Grid, tmp_path: Path, library, number, words) -> None:
    program, folder = tmp_path / "files", tmp_path / "data"
    subprocess.run([COMPILERS[library], SOURCE, "-o", program], check=True)
    folder.mkdir()
    command = [program, folder / "file", *words]
    each = ["--on", "east", "-n", 2, *command, ":", "--on", "west", "-n", 2, *command]
    with grid.start(*each) as run:
        assert run.stdout.readline() == "open\n"
        assert len(list(folder.iterdir())) == 2, "the file and its shared pointer"
        run.send_signal(number)
        _, said = run.communicate(timeout=240)
    assert run.returncode == 128 + number, said
    assert [file.name for file in folder.iterdir()] == ([] if words else ["file"])


@pytest.mark.parametrize("library", ["ompi", "mpich"])
@pytest.mark.parametrize(("how", "status"), [("aborts", 7), ("exits", 7), ("is killed", 137)])
@pytest.mark.parametrize("words", [[""], ["east"]], ids=["deleted", "elsewhere"])
def test_a_rank_ends(grid: Grid, tmp_path: Path, library, how, status, words) -> None:
    program, folder = tmp_path / "files", tmp_path / "data"
    subprocess.run([COMPILERS[library], SOURCE, "-o", program], check=True)
    folder.mkdir()
    command = [program, folder / "file", *words, how]
    each = ["--on", "east", "-n", 2, *command, ":", "--on", "west", "-n", 2, *command]
    with grid.start(*each) as run:
        _, said = run.communicate(timeout=240)
    if library == "mpich" and how == "exits" and "signal 9 (SIGKILL)" in said:
        status = 137  # Hydra has reported how it ended the other ranks (docs/exit-status.md)
    assert run.returncode == status, said
    assert [file.name for file in folder.iterdir()] == []
