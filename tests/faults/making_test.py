"""A rank is killed while the others wait for it where communicators are made, in a collective
between two sides, or for its partitions. All end, with a sentence that names the rank."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, check, signalled

SOURCE = Path(__file__).with_name("making.c")
# Open MPI 4.1 has neither of the last two.
CASES = [
    ("mpich", "intercomm-create", 0),
    ("ompi", "intercomm-create", 3),
    ("mpich", "inter-collective", 3),
    ("ompi", "inter-collective", 0),
    ("mpich", "create-from-group", 0),
    ("mpich", "precv", 3),
]


@pytest.mark.parametrize(("library", "mode", "rank"), CASES)
def test_a_rank_is_killed(grid: Grid, tmp_path: Path, library: str, mode: str, rank: int) -> None:
    program = tmp_path / "making"
    subprocess.run([COMPILERS[library], SOURCE, "-o", program], check=True)
    done = grid.run("-n", 4, program, mode, rank)
    cluster = ["east", "west"][rank // 2]
    check(done, signalled(9), f'(cluster "{cluster}") was killed by signal 9 (SIGKILL)')
    # Hydra kills the dying one's sibling, too, and may be seen to have done so first.
    assert int(re.findall(r"isthmus: rank (\d)", done.stderr)[0]) // 2 == rank // 2, done.stderr
    assert "nothing waited" not in done.stdout
