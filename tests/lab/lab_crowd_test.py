"""The number of streams for bulk when all processes send at the same time."""

import statistics
import sys
from collections import defaultdict

import mpis

from isthmus.seeing import tracefile

BULK = 1100  # bytes; what is smaller is an express frame with its header
ALLTOALLS = """
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
sent, got = bytearray(world.size << 17), bytearray(world.size << 17)
for round in range(60):
    sent[:] = bytes([world.rank + round]) * len(sent)
    world.Alltoall(sent, got)
    for rank in range(world.size):
        part = got[rank << 17:rank + 1 << 17]
        if part.count(rank + round) != len(part):
            sys.exit(f"rank {world.rank} has wrong bytes of rank {rank}")
"""


def test_pairs_that_send_at_the_same_time_leave_each_other_windows(standing, tmp_path):
    """16 pairs share what 100 first windows fill: three streams have twice that each."""
    lab = standing("hablot", "--nodes", "1", "--set", "site.*.slots=4")
    grid, program = tmp_path / "grid.toml", tmp_path / "alltoalls.py"
    text = lab.exec("sh", "-c", 'cat "$ISTHMUS_GRID"').stdout
    grid.write_text(text.replace("[[link]]", '[[link]]\nreach = "direct"'))
    program.write_text(ALLTOALLS)
    done = lab.exec(
        *("env", "ISTHMUS_TRACE=net", f"ISTHMUS_TRACE_DIR={tmp_path}"),
        *(sys.executable, "-m", "isthmus", "run", "-g", grid, "--timeout", 200, "-n", 8),
        *(mpis.ALL["mpich5"].python, program),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    by_pair = defaultdict(list)
    for path in tmp_path.glob("*.trace"):
        trace = tracefile.read(path)
        for record in trace.records():
            frame = record.values
            if record.name != "frame-sent" or not trace.process.startswith("rank"):
                continue
            if frame["bytes"] > BULK and frame["peer"] < 8:
                by_pair[trace.process, frame["peer"]].append(frame["stream"])
    assert len(by_pair) == 32, by_pair.keys()
    took = [len(set(streams[len(streams) // 2 :])) for streams in by_pair.values()]
    # All streams that stand by for a pair alone: 7 or 8. A process that is alone for a moment has
    # more streams.
    assert statistics.median(took) <= 3, took
