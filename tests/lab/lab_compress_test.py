"""A compressed link: every kind of data arrives, and what shrinks takes less of the wire."""

import re
import sys

import grids
import mpis
import pytest

PROGRAM = mpis.PROGRAMS / "p2p" / "kinds_of_data.c"
RATE = "100 Mbit/s"  # slow enough for the slowest core to gain by compressing


@pytest.fixture
def compressed(standing, tmp_path):
    """compressed(yes or no, words of the program) -> what is run with it over a lab's link."""
    lab = standing("hablot", "--nodes", "1")

    def run(compress, *words):
        grid = tmp_path / "grid.toml"
        text = lab.exec("sh", "-c", 'cat "$ISTHMUS_GRID"').stdout
        text = re.sub(r"(?m)^rate = .*", f'rate = "{RATE}"\ncompress = {compress}', text)
        grid.write_text(text)
        done = lab.exec(
            *(sys.executable, "-m", "isthmus", "run", "--stats", "-g", grid, "--timeout", 200),
            *("-n", 2, *grids.command("openmpi4", PROGRAM), *words),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def crossed(stats):
    """Bytes of the program from a to b, and those on the wire."""
    (row,) = [row.split("│") for row in stats.splitlines() if re.search(r"\ba\S* -> b", row)]
    return int(row[3]), int(row[4])


def test_every_kind_of_data_arrives(compressed):
    done = compressed("true")
    assert "kinds_of_data: passed" in done.stdout
    payload, wire = crossed(done.stderr)
    assert wire < 0.8 * payload


@pytest.mark.parametrize(("kind", "least", "most"), [(0, 0.99, 1.05), (1, 0.3, 0.9), (4, 0, 0.2)])
def test_what_the_wire_has_of_each_kind(compressed, kind, least, most):
    payload, wire = crossed(compressed("true", 16, kind).stderr)
    assert least * payload < wire < most * payload


def test_nothing_is_compressed_unless_asked_for(compressed):
    payload, wire = crossed(compressed("false", 16, 4).stderr)
    assert wire > payload
