"""Real programs, installed from the distribution and never rebuilt, over two clusters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import mpis
import pytest

INPUTS = mpis.ROOT / "tests" / "applications"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def thermodynamics(output: str) -> list[str]:
    """The rows of LAMMPS's table of thermodynamic output."""
    table = re.search(r"^Step Temp.*\n((?:\s*\d+ .*\n)+)", output, re.MULTILINE)
    assert table, f"no thermodynamic output in:\n{output[-2000:]}"
    return table.group(1).splitlines()


@pytest.mark.parametrize("ranks", [2, 4])
def test_lammps_prints_what_it_prints_natively(isthmus, ranks, tmp_path):
    command = ["lmp", "-in", INPUTS / "in.melt", "-log", "none"]
    native = subprocess.run(
        ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks), *map(str, command)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=tmp_path,
        env=os.environ | AS_ROOT,
    )
    grid = isthmus("run", "-n", ranks, *command, timeout=300, cwd=tmp_path)
    assert grid.returncode == 0, grid.stderr
    assert thermodynamics(grid.stdout) == thermodynamics(native.stdout)


def test_hpcc_passes_its_own_checks(isthmus, tmp_path):
    shutil.copy(INPUTS / "hpccinf.txt", tmp_path)
    done = isthmus("run", "-n", 4, "hpcc", timeout=570, cwd=tmp_path)
    report = (tmp_path / "hpccoutf.txt").read_text() if done.returncode == 0 else ""
    assert done.returncode == 0, done.stderr
    assert "Success=1" in report
    assert "FAILED" not in report
    errors = re.findall(r"Found (\d+) errors in", report)
    assert errors
    assert set(errors) == {"0"}
    failed = re.findall(r"(\d+) tests completed and failed residual checks", report)
    assert failed
    assert set(failed) == {"0"}
