"""`isthmus trace`: dumps of several processes as one text."""

import struct

import pytest
from typer.testing import CliRunner

from isthmus.cli import cli

HEADER = """\
isthmus-trace 1
process {process}
job a-job
host there
pid 77
order {order}
event 1 net frame-sent peer kind bytes
event 21 match receive-posted context source tag
name kind 16 Envelope
reason {reason}
records
"""


def dump(folder, name, process, records, *, order="little", reason="the end"):
    path = folder / name
    packing = struct.Struct(("<" if order == "little" else ">") + "3Q5q")
    path.write_bytes(
        HEADER.format(process=process, order=order, reason=reason).encode()
        + b"".join(
            packing.pack(number, time, 9 << 32 | event, *values, *[0] * (5 - len(values)))
            for number, time, event, values in records
        )
    )
    return path


@pytest.fixture
def files(tmp_path):
    far = [(1, 2_000_000_500, 1, [0x80000001, 16, 100]), (2, 4_000_000_000, 1, [0, 17, 5])]
    near = [(71, 3_000_000_000, 21, [3 << 32 | 2, -1, -1]), (72, 5_000_000_000, 99, [1])]
    return [
        dump(tmp_path, "a", "agent east", far, order="big"),
        dump(tmp_path, "b", "rank 3", near, reason="SIGSEGV"),
    ]


def trace(*words):
    return CliRunner().invoke(cli.app, ["trace", *map(str, words)])


def lines(*words):
    done = trace(*words)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_records_are_merged_by_time_and_named(files):
    about, other, *records = lines(*files)
    assert about.endswith("agent east, process 77 on there: 2 records; written at: the end")
    assert other.endswith("2 records, 70 older records lost; written at: SIGSEGV")
    first, second, third, fourth = (" ".join(line.split()[1:]) for line in records)
    assert first == "agent east 9 net frame-sent peer=gateway:1 kind=Envelope bytes=100"
    assert second == "rank 3 9 match receive-posted context=3.2 source=any tag=any"
    assert third == "agent east 9 net frame-sent peer=0 kind=17 bytes=5"
    assert fourth == "rank 3 9 ? event-99 f0=1 f1=0 f2=0 f3=0 f4=0"


def test_under_a_map_nodes_are_ranks(files, tmp_path):
    told = tmp_path / "b"
    told.write_bytes(told.read_bytes().replace(b"name kind", b"name node 0 7\nname kind", 1))
    assert any("peer=7 kind=17" in line for line in lines(*files))
    assert any("peer=gateway:1" in line for line in lines(*files))


def test_filters(files):
    assert all("rank 3" in line for line in lines(*files, "--rank", 3))
    assert len(lines(*files, "--rank", 3)) == 3
    assert [line.split()[4] for line in lines(*files, "--subsystem", "net")[2:-1]] == ["net"] * 2


@pytest.mark.parametrize("text", [b"", b"isthmus-trace 2\nrecords\n", b"\xff\n" * 9])
def test_what_is_no_trace(tmp_path, text):
    path = tmp_path / "x"
    path.write_bytes(text)
    assert "is not a trace of this release" in str(trace(path).exception)


def test_what_is_not_there(tmp_path, files):
    assert "no such file" in str(trace(tmp_path / "none").exception)
    assert "They have match, net." in str(trace(*files, "--subsystem", "nets").exception)
