"""A rank is killed in an epoch of a window. All end, with a sentence that names the rank."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, check, signalled

SOURCE = Path(__file__).with_name("windows.c")
CASES = [
    ("mpich", "lock", 3),
    ("ompi", "lock", 0),
    ("mpich", "fence", 0),
    ("ompi", "fence", 3),
    ("ompi", "flush", 3),
    ("mpich", "post", 3),
]


@pytest.mark.parametrize(("library", "mode", "rank"), CASES)
def test_a_rank_is_killed(grid: Grid, tmp_path: Path, library: str, mode: str, rank: int) -> None:
    program = tmp_path / "windows"
    subprocess.run([COMPILERS[library], SOURCE, "-o", program], check=True)
    done = grid.run("-n", 4, program, mode, rank)
    cluster = ["east", "west"][rank // 2]
    check(done, signalled(9), f'(cluster "{cluster}") was killed by signal 9 (SIGKILL)')
    # Hydra kills the dying one's sibling, too, and may be seen to have done so first.
    assert int(re.findall(r"isthmus: rank (\d)", done.stderr)[0]) // 2 == rank // 2, done.stderr
    assert "nothing waited" not in done.stdout
