"""The timeline of --trace, from traces as processes write them, and the report of its gaps."""

import struct
import tempfile
from pathlib import Path

import pytest
from trace_events import Timeline

from isthmus.base.errors import UsageError
from isthmus.base.relay import Voice
from isthmus.grid import grid as grids
from isthmus.job.argv import PartOptions, combine
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.place.traceoptions import TraceOptions
from isthmus.run.stats import Stats
from isthmus.seeing import clocks, intervals, timeline
from isthmus.seeing.clocks import Clock, Reading
from isthmus.seeing.gathering import Gathered
from isthmus.seeing.intervals import Interval

HEADER = """\
isthmus-trace 1
process {process}
job a-job
host there
pid 77
order little
event 20 match send-begun peer context tag bytes
event 21 match send-done peer context tag bytes
event 23 match message-matched peer context source tag bytes
event 26 match receive-done peer context source tag bytes
event 40 coll collective-begun context size
event 41 coll algorithm-chosen collective algorithm bytes segment
event 42 coll collective-ended context error
event 43 coll phase-begun number text
event 44 coll phase-ended number
event 60 comm comm-made context size rank near
event 100 call call-begun text
event 101 call call-ended inner
event 120 link link-counted from peer messages bytes waiting
name collective 1 bcast
name algorithm 2 fan
reason the end
records
"""
EAST, WEST = 0x80000000, 0x80000001
S = 1_000_000_000


def record(number, time, event, *values, thread=9):
    packed = b""
    for value in values:
        raw = value.encode() if isinstance(value, str) else struct.pack("<q", value)
        packed += raw
    return struct.pack("<3Q", number, time, thread << 32 | event) + packed.ljust(40, b"\0")[:40]


def dump(folder: Path, process, *records, first=1) -> Path:
    path = folder / f"{process.replace(' ', '-')}.trace"
    made = [record(first + at, *one[:2], *one[2:]) for at, one in enumerate(records)]
    path.write_bytes(HEADER.format(process=process).encode() + b"".join(made))
    return path


RANK_0 = [
    (1 * S, 60, 0, 2, 0, 1),
    (2 * S, 100, "MPI_Bcast"),
    (2 * S + 100, 40, 1, 2),
    (2 * S + 200, 41, 1, 2, 800, 0),
    (2 * S + 250, 43, 5, "broadcast"),
    (2 * S + 300, 20, 1, 1, 4, 800),
    (2 * S + 400, 21, 1, 1, 4, 800),
    (2 * S + 450, 44, 5),
    (2 * S + 500, 42, 1, 0),
    (2 * S + 600, 101, 0),
    (3 * S, 100, "MPI_Recv"),
]
RANK_1 = [  # its clock is a second ahead
    (3 * S, 100, "MPI_Bcast"),
    (3 * S + 700, 23, 0, 1, 0, 4, 800),
    (3 * S + 800, 26, 0, 1, 0, 4, 800),
    (3 * S + 900, 101, 0),
]
AGENT = [
    (2 * S, 120, EAST, WEST, 1, 400, 64),
    (2 * S + S // 10, 120, EAST, WEST, 2, 800, 0),
]


@pytest.fixture
def plan():
    return make_plan(grids.two_halves(), [Part(["x"], 2)])


@pytest.fixture
def told(capsys):
    return lambda: capsys.readouterr().err


def write(plan, tmp_path, *files, records=1 << 16, ahead=(0, S)):
    """`files` are of agents in turn."""
    readings = [Clock([Reading(0, a, 2000), Reading(10 * S, a, 1000)]) for a in ahead]
    folder = tempfile.TemporaryDirectory()
    found = Gathered(folder, list(files), readings, ["east", "west"])
    stats = Stats()
    count = {"messages": 3, "bytes": 1200, "wire_bytes": 1500}
    stats.links = {(EAST, WEST): count, (WEST, EAST): {**count, "messages": 0}}
    stats.direct = {(0, 1): {**count, "conduits": 1}}
    out = tmp_path / "out.json"
    timeline.write(TraceOptions(out, records), plan, found, stats, Voice(False))
    assert not Path(folder.name).exists()
    return Timeline(out)


def test_calls_collectives_phases_and_messages_on_one_clock(plan, tmp_path, told):
    line = write(
        plan,
        tmp_path,
        (0, dump(tmp_path, "agent east", *AGENT)),
        (0, dump(tmp_path, "rank 0", *RANK_0)),
        (1, dump(tmp_path, "rank 1", *RANK_1)),
    )
    assert told() == ""
    assert line.about["missing"] == []
    assert line.about["clocksUnsureMicroseconds"] == 1
    seen = [(e["cat"], e["name"], e["ts"], e["dur"]) for e in line.slices("rank 0")]
    second = 1e6
    assert sorted(seen, key=lambda e: (e[2], -e[3])) == [
        ("call", "MPI_Bcast", second, 0.6),
        ("collective", "bcast: fan", second + 0.1, 0.4),
        ("phase", "broadcast in the cluster", second + 0.25, 0.2),
        ("send", "to rank 1", second + 0.3, 0.1),
        ("call", "MPI_Recv", 2 * second, 0),
    ]
    tids = {e["cat"]: e["tid"] for e in line.slices("rank 0")}
    assert tids["call"] == tids["collective"] == tids["phase"] == 9
    assert line.slices("rank 0", "call")[1]["args"] == {"unfinished": True}
    assert list(line.arrows()) == [(second + 0.3, second + 0.7)]
    assert line.counted() == {
        "east -> west": (3, 1200),
        "west -> east": (0, 1200),
        "east -> west, direct": (3, 1200),
    }
    rates = [e["args"]["bytes/s"] for e in line.events if e["name"] == "east -> west rate"]
    assert rates == [4000, 4000, 0]
    handed = [e["args"]["bytes/s"] for e in line.events if e["name"].endswith("handed over")]
    assert handed == [800 * 20, 0]


def test_what_gave_way_is_told(plan, tmp_path, told):
    line = write(
        plan,
        tmp_path,
        (0, dump(tmp_path, "rank 0", *RANK_0[6:], first=101)),
        (1, dump(tmp_path, "rank 1", *RANK_1)),
        records=64,
    )
    assert told() == (
        "isthmus: warning: the trace lacks the first 100 events of rank 0: processes keep their "
        "last 64\n  --trace-size 16KiB would have kept all\n"
    )
    assert line.about["missing"] == [{"process": "rank 0", "events": 100}]
    assert [e["name"] for e in line.slices("rank 0")] == ["MPI_Recv"]
    assert list(line.arrows()) == []


def test_ranks_that_left_nothing_are_told(plan, tmp_path, told):
    broken = tmp_path / "rank-1.trace"
    broken.write_bytes(b"isthmus")
    line = write(plan, tmp_path, (0, dump(tmp_path, "rank 0", *RANK_0)), (1, broken))
    said = told()
    assert "the trace of a process of west is broken" in said
    assert "the trace lacks rank 1: such ranks did not end in good order" in said
    assert line.about["missing"] == [{"ranks": [1]}]


def test_a_collective_that_goes_on_gets_a_row_of_its_own(plan, tmp_path):
    later = [
        (2 * S, 100, "MPI_Ibcast"),
        (2 * S + 100, 40, 1, 2),
        (2 * S + 200, 101, 0),
        (2 * S + 300, 100, "MPI_Wait"),
        (2 * S + 400, 42, 1, 0),
        (2 * S + 500, 101, 0),
    ]
    line = write(plan, tmp_path, (0, dump(tmp_path, "rank 0", *later)))
    (collective,) = line.slices("rank 0", "collective")
    assert collective["tid"] not in {e["tid"] for e in line.slices("rank 0", "call")}


def test_a_file_that_cannot_be_written(plan, tmp_path):
    (tmp_path / "out.json").mkdir()
    with pytest.raises(Exception, match=r"--trace .*out.json: Is a directory"):
        write(plan, tmp_path)


def test_intervals_share_lanes_where_they_lie_within_or_apart():
    spans = [(0, 10), (2, 5), (4, 12), (5, 6), (12, 13)]
    placed = intervals.in_lanes([Interval("send", "", 1, *span) for span in spans])
    assert [(lane, (i.start, i.end)) for lane, i in placed] == [
        (0, (0, 10)), (0, (2, 5)), (1, (4, 12)), (0, (5, 6)), (0, (12, 13)),
    ]  # fmt: skip


def test_a_clock_that_drifts():
    clock = Clock([Reading(0, 100, 10), Reading(1000, 200, 30)])
    assert [clock.common(local) for local in (100, 650, 1200)] == [0, 500, 1000]
    assert clock.unsure == 15
    assert Clock().common(5) == 5


def test_agents_of_one_host_have_one_clock():
    first = {0: Reading(1, 5, 20), 1: Reading(2, 7, 10)}
    last = {2: Reading(9, 0, 1)}
    one, two, other = clocks.merged(["here", "here", ""], [first, last])
    assert one is two
    assert one.readings == [first[1]]
    assert other.readings == [last[2]]


def options(**keys):
    return combine([PartOptions(["x"], **keys)], {})


def test_what_ranks_are_told(tmp_path):
    run = options(trace=str(tmp_path / "x.json"), trace_size="3MiB")
    assert run.job.trace == TraceOptions(tmp_path / "x.json", 65536)
    assert run.parts[0].env == {
        "ISTHMUS_TRACE": "call,coll,match,comm",
        "ISTHMUS_TRACE_RECORDS": "65536",
    }
    assert options().parts[0].env == {}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"trace": "/nowhere/x"}, "the folder /nowhere does not exist"),
        ({"trace": "/tmp"}, "is a folder"),
        ({"trace": "x", "trace_size": "much"}, "--trace-size must be a size"),
        ({"trace": "x", "trace_size": "1KiB"}, "from 4 KiB to 256 MiB"),
        ({"trace": "x", "trace_size": "257MiB"}, "from 4 KiB to 256 MiB"),
        ({"trace_size": "1MiB"}, "--trace-size needs --trace"),
    ],
)
def test_wrong_options(keys, said):
    with pytest.raises(UsageError, match=said):
        options(**keys)
