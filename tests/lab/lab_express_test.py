"""The streams of small messages while large ones fill a long link."""

import sys
from collections import Counter

import grids
import mpis
import pytest

from isthmus.seeing import tracefile

SMALL = 1100  # bytes of an express frame with its header, at most
PROGRAM = mpis.ROOT / "python" / "isthmus" / "measuring" / "p2p.c"


@pytest.mark.parametrize("reach", ["gateway", "direct"])
def test_bulk_stays_off_one_stream(standing, tmp_path, reach):
    lab = standing("hablot", "--nodes", "1")
    grid = tmp_path / "grid.toml"
    text = lab.exec("sh", "-c", 'cat "$ISTHMUS_GRID"').stdout
    grid.write_text(text.replace("[[link]]", f'[[link]]\nreach = "{reach}"'))
    done = lab.exec(
        *("env", "ISTHMUS_TRACE=net", f"ISTHMUS_TRACE_DIR={tmp_path}"),
        *(sys.executable, "-m", "isthmus", "run", "-g", grid, "--timeout", 200, "-n", 2),
        *(*grids.command("openmpi4", PROGRAM), f"loaded:8:{96 << 20}"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sender = "rank 0" if reach == "direct" else "agent a"  # the gateway is a part of that
    traces = [tracefile.read(path) for path in tmp_path.glob("*.trace")]
    sent = [
        frame.values
        for trace in traces
        if trace.process == sender
        for frame in trace.records()
        if frame.name == "frame-sent"
    ]
    far = 1 if reach == "direct" else max(frame["peer"] for frame in sent)  # of a gateway: higher
    sent = [frame for frame in sent if frame["peer"] == far]
    small, large = Counter(), Counter()
    for frame in sent[len(sent) // 2 :]:  # all streams stand by then
        (small if frame["bytes"] <= SMALL else large)[frame["stream"]] += 1
    assert len(large) > 2, large
    ((stream, most),) = small.most_common(1)
    assert most > small.total() / 2, small
    assert large[stream] == 0, large
