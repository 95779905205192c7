"""Two sites that only dial out, and a relay between them."""

import grids
import mpis
import pytest
from lab_grid_test import O4, compiled, isthmus, lines


@pytest.fixture
def lab(standing):
    return standing(*grids.WALLED_IN)


@pytest.mark.parametrize("program", ["p2p/large.c", "coll/all.c", "rma/puts.c"])
def test_they_meet_at_the_relay(lab, tmp_path, program):
    grid = tmp_path / "grid.toml"
    grid.write_text(grids.RELAYED + grids.RELAY)
    built = grids.command(O4, mpis.PROGRAMS / program)
    done = isthmus(lab, "run", "-g", grid, "--timeout", 200, "-n", 4, *built)
    lines(done)


def test_without_it_they_do_not(lab, tmp_path):
    grid = tmp_path / "grid.toml"
    grid.write_text(grids.RELAYED)
    built = compiled(tmp_path, "int main(void) { return 0; }", O4)
    done = isthmus(lab, "run", "-g", grid, "--timeout", 200, "-n", 4, built)
    assert done.returncode == 1
    assert "cannot connect to" in done.stderr
