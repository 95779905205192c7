"""`isthmus tune` over a lab's wires."""

import json
import sys

import pytest


@pytest.fixture
def row(standing):
    """Three sites in a row: what the first sends to the others leads over its one wire."""
    return standing("chain", "--set", "wan.rate=200 Mbit/s")


def test_a_wire_that_ways_share_is_found(row, tmp_path):
    grid = tmp_path / "grid.toml"
    grid.write_text(row.exec("sh", "-c", 'cat "$ISTHMUS_GRID"').stdout)
    tune = [sys.executable, "-m", "isthmus", "tune", "-g", grid, "--passes", 1, "-n", 2]
    done = row.exec(*tune, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads((tmp_path / "grid.tune.json").read_text())
    shared = [entry for entry in kept["network"].split(",") if entry.startswith("shared=")]
    assert [entry.partition(":")[0] for entry in shared] == ["shared=a/b+a/c", "shared=c/a+c/b"]
    rates = [float(entry.rpartition(":")[2].rstrip("M")) for entry in shared]
    assert all(100 < rate < 210 for rate in rates), shared
