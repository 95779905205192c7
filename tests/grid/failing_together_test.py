"""A cluster fails while others use windows over it, or make communicators and windows together."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

FAILING = Path(__file__).parent / "failing"
GRID = "[cluster.east]\n[cluster.west]\n[cluster.south]\n"


def go_on(isthmus, programs: Path, folder: Path, source: str, library: str, *words: object):
    grid = folder / "grid.toml"
    grid.write_text(GRID)
    program = mpis.ALL[library].build(FAILING / source, programs)
    done = isthmus("run", "--survive", "-g", grid, "-n", 6, program, *words, timeout=240)
    assert (done.returncode, done.stdout) == (0, "4 of 6 go on\n"), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("openmpi4", ["fence"]), ("openmpi5", ["post"]), ("mpich4", ["lock"]),
        ("mpich5", ["large_data"]), ("openmpi5", ["lock_all", 3000]), ("mpich5", ["create", 2000]),
    ],
)  # fmt: skip
def test_windows_lose_a_cluster(isthmus, programs, tmp_path, library: str, words: list) -> None:
    go_on(isthmus, programs, tmp_path, "windows.c", library, *words)


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("openmpi4", ["create"]), ("mpich5", ["connect"]), ("openmpi5", ["create_lead", 2000]),
        ("mpich4", ["plain", 1000]), ("mpich5", ["merge", 4000]),
        ("openmpi4", ["open", 1500, "file"]), ("mpich4", ["open", 3000, "file"]),
    ],
)  # fmt: skip
def test_sides_lose_a_cluster(isthmus, programs, tmp_path, library: str, words: list) -> None:
    if "file" in words:
        words = [*words[:-1], tmp_path / "file"]
    go_on(isthmus, programs, tmp_path, "sides.c", library, *words)
