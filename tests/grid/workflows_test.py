"""Tools that start MPI programs, set up as their pages in docs/ say, over two emulated clusters."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import mpis
import pytest
from marks import MARK, nothing_is_left
from running import ran, shell_script

TOOLS = mpis.ROOT / ".venv/workflows/bin"
SOURCE = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d %d %s\\n", rank, sum, getenv("ISTHMUS_CLUSTER"));
  MPI_Finalize();
  return 0;
}
"""
LINES = ["0 6 east", "1 6 east", "2 6 west", "3 6 west"]
CHECK = """\
import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class Solve(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "{solver}"
    sourcesdir = None
    num_tasks = 4

    @sanity_function
    def all_ranks(self):
        return sn.assert_eq(sn.count(sn.findall(r"^[0-3] 6 (east|west)$", self.stdout)), 4)
"""


def block(page: str) -> str:
    """The first block of code of a page in docs/."""
    text = (mpis.ROOT / "docs" / page).read_text()
    found = re.search(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found, page
    return found[1]


Tool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """tool("snakemake", ...) runs it beside `./solver`, with `isthmus` on the PATH."""
    assert TOOLS.is_dir(), "not installed; `make .venv/.stamp-workflows` installs the tools"
    (tmp_path / "solver.c").write_text(SOURCE)
    built = [mpis.ALL["mpich4"].cc, "solver.c", "-o", "solver"]
    subprocess.run(built, cwd=tmp_path, check=True)
    command = shell_script(tmp_path / "bin/isthmus", f'exec "{sys.executable}" -m isthmus "$@"')
    mark = uuid.uuid4().hex
    path = f"{command.parent}:{os.environ['PATH']}"

    def run(name: str, *words: object) -> subprocess.CompletedProcess[str]:
        return ran(
            [str(TOOLS / name), *words],
            env={**os.environ, MARK: mark, "PATH": path, "HOME": str(tmp_path)},
            cwd=tmp_path,
        )

    yield run
    nothing_is_left(mark)


def test_snakemake(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(block("snakemake.md"))
    done = tool("snakemake", "--cores", 4)
    assert done.returncode == 0, done.stderr
    assert sorted((tmp_path / "result.txt").read_text().splitlines()) == LINES


def test_reframe(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text(block("reframe.md"))
    (tmp_path / "check.py").write_text(CHECK.format(solver=tmp_path / "solver"))
    done = tool("reframe", "-C", "settings.py", "-c", "check.py", "-r")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ran 1/1 test case(s) from 1 check(s) (0 failure(s)" in done.stdout
