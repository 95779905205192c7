"""Two sites that only dial out, and a relay between them."""

import grids
import mpis
import pytest
from lab_grid_test import O4, isthmus, lines


@pytest.fixture
def lab(standing):
    return standing(*grids.WALLED_IN)


@pytest.mark.parametrize("program", ["p2p/large.c", "coll/all.c", "rma/puts.c"])
def test_they_meet_at_the_relay(lab, grid_with, program):
    grid = grid_with(grids.RELAYED + grids.RELAY)
    built = grids.command(O4, mpis.PROGRAMS / program)
    done = isthmus(lab, "run", "-g", grid, "--timeout", 200, "-n", 4, *built)
    lines(done)


def test_without_it_they_do_not(lab, tmp_path, grid_with):
    grid = grid_with(grids.RELAYED)
    built = mpis.ALL[O4].build_text("int main(void) { return 0; }", tmp_path / "none")
    done = isthmus(lab, "run", "-g", grid, "--timeout", 200, "-n", 4, built)
    assert done.returncode == 1
    assert "cannot connect to" in done.stderr
