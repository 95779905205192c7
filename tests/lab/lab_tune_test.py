"""`isthmus tune` over a lab's wires."""

import json
import sys

import pytest


@pytest.fixture
def row(standing):
    """Three sites in a row: what the first sends to the others leads over its one wire."""
    return standing("chain", "--set", "wan.rate=200 Mbit/s")


@pytest.fixture
def narrow(standing):
    """Eight senders of 100 Mbit/s each, whose messages are all under way at the same time."""
    return standing("matsuda")


def tuned(lab, tmp_path, *options):
    """The figures that one run of `isthmus tune` with these options kept."""
    grid = tmp_path / "grid.toml"
    grid.write_text(lab.exec("sh", "-c", 'cat "$ISTHMUS_GRID"').stdout)
    tune = [sys.executable, "-m", "isthmus", "tune", "-g", grid, "--passes", 1, *options]
    done = lab.exec(*tune, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((tmp_path / "grid.tune.json").read_text())


def test_senders_carry_no_more_than_their_links(narrow, tmp_path):
    (pair,) = tuned(narrow, tmp_path)["measured"]["pairs"]
    assert pair["senders"] == 8
    assert 0 < 8 * pair["rate"] <= 8 * 100e6


def test_a_wire_that_ways_share_is_found(row, tmp_path):
    """Others that compute on this machine hide it from a single measurement."""
    for _ in range(4):
        kept = tuned(row, tmp_path, "-n", 2)
        shared = [entry for entry in kept["network"].split(",") if entry.startswith("shared=")]
        if [entry.partition(":")[0] for entry in shared] == ["shared=a/b+a/c", "shared=c/a+c/b"]:
            break
    else:
        pytest.fail(f"not found in four measurements: {kept['network']}")
    rates = [float(entry.rpartition(":")[2].rstrip("M")) for entry in shared]
    assert all(100 < rate < 210 for rate in rates), shared


WHOLE = """
[cluster.whole]
host = "a0"
hosts = "a[1-4],b[1-4]"
slots = 8
[cluster.whole.env]
OMPI_MCA_pml = "ob1"
OMPI_MCA_btl = "tcp,self"
OMPI_MCA_btl_tcp_if_include = "eth0"
OMPI_MCA_mpi_yield_when_idle = "1"
"""


def test_a_cluster_of_narrow_bisection_is_told(lab, grid_with):
    """Two sites as one cluster: the wire between them carries as much as one of four links."""
    grid = grid_with(WHOLE)
    tune = [sys.executable, "-m", "isthmus", "tune", "-g", grid, "--passes", 1]
    wire = ["--set", "wan.rate=100 Mbit/s", "--set", "wan.delay=0.1 ms"]
    done = lab("run", "matsuda", "--nodes", 4, *wire, "--", *tune, "--mpicc", "mpicc.openmpi")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "between the halves of whole: " in done.stdout
    assert "where 4 links have " in done.stdout
