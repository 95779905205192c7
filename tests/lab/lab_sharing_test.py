"""Processes that reach another cluster themselves share the link's rate."""

import json
import sys

import grids
import mpis
import pytest

PROGRAM = mpis.ROOT / "python" / "isthmus" / "measuring" / "p2p.c"
RATE = 200e6 / 8  # bytes a second on the wire; each of the nodes could send half of that
PAYLOAD = 1448 / 1538


@pytest.fixture
def narrow(standing):
    return standing("matsuda", "--set", f"wan.rate={RATE * 8 / 1e6:g} Mbit/s")


def crossed(lab):
    """Bytes and drops of each millisecond in which there was anything."""
    _, *rows = lab.labs("traffic", "a>b").stdout.splitlines()
    return [tuple(map(int, row.split(",")[2:])) for row in rows]


def test_eight_that_send_at_once_fill_the_link_and_overflow_nothing(narrow, tmp_path):
    grid = tmp_path / "grid.toml"
    text = narrow.exec("sh", "-c", 'cat "$ISTHMUS_GRID"').stdout
    grid.write_text(text.replace("[[link]]", '[[link]]\nreach = "direct"'))
    done = narrow.exec(
        *(sys.executable, "-m", "isthmus", "run", "-g", grid, "--timeout", 200, "-n", 16),
        *(*grids.command("openmpi4", PROGRAM), f"stream:{1 << 20}:3:4"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    assert line["pairs"] == 8
    rounds = zip(line["messages"], line["seconds"], strict=True)
    rate = max(8 * (1 << 20) * count / seconds for count, seconds in rounds)
    assert rate > 0.9 * RATE * PAYLOAD, line
    # More packets drop while connections are being made. When each process paced itself alone, 0.1
    # dropped. On a busy host, late processes send in bursts, and 0.01 drop (2026-11).
    settled = crossed(narrow)
    settled = settled[len(settled) // 2 :]
    segments = sum(row[0] for row in settled) / 1538
    assert sum(row[1] for row in settled) < 0.03 * segments
