"""The output of several clusters is mixed between lines."""

import asyncio
import random
import re

from isthmus.base.lines import KEEP, Lines
from isthmus.base.relay import OutputRelay


def said(lines, now=0.0):
    return "".join(data.decode() for _, data in lines.ready(now))


def put(lines, source, text, fd=1, now=0.0):
    lines.put(source, fd, text.encode())
    return said(lines, now)


def test_a_lone_source_is_never_held():
    lines = Lines()
    for piece in ("prompt: ", "more", "\nand\nso", " on"):
        assert put(lines, "a", piece) == piece
    assert lines.deadline() is None


def test_whole_lines_pass():
    lines = Lines()
    assert put(lines, "a", "one\n") + put(lines, "b", "two\n") == "one\ntwo\n"


def test_others_wait_for_the_end_of_a_line():
    lines = Lines()
    assert put(lines, "a", "round") == "round"
    assert put(lines, "b", "round") == ""
    assert put(lines, "b", " 2\n", fd=2) == ""
    assert put(lines, "a", " 1\n") == " 1\nround 2\n"
    assert len(lines) == 0


def test_who_ends_a_line_and_begins_another_lets_the_others_speak_first():
    lines = Lines()
    put(lines, "a", "a1")
    put(lines, "b", "b1\n")
    assert put(lines, "a", ".\na2") == ".\nb1\na2"
    assert put(lines, "b", "b2\n") == ""
    assert put(lines, "a", ".\n") == ".\nb2\n"


def test_nobody_waits_for_longer_than_that():
    lines = Lines()
    put(lines, "a", "are you sure? ", now=7.0)
    assert put(lines, "b", "b\n", now=7.0) == ""
    assert lines.deadline() == 7.0 + KEEP
    assert put(lines, "a", ".", now=7.0 + KEEP / 2) == "."  # no more time for that
    assert said(lines, 7.0 + KEEP) == "b\n"
    assert lines.deadline() is None


def test_a_line_that_had_its_time_does_not_hold_the_others_again():
    lines = Lines()
    put(lines, "a", ".", now=0.0)
    assert put(lines, "b", "b1\n", now=KEEP) == "b1\n"
    assert put(lines, "a", ".", now=KEEP) == "."
    assert put(lines, "b", "b2\n", now=KEEP) == "b2\n"
    assert put(lines, "a", "\nnext", now=KEEP) == "\nnext"
    assert put(lines, "b", "b3\n", now=KEEP) == ""


def test_every_byte_comes_out_once_and_in_the_order_of_its_source():
    chance = random.Random(5)
    for _ in range(200):
        lines, now, sent, got = Lines(), 0.0, {}, []
        for number in range(60):
            source, fd = chance.choice("abc"), chance.choice((1, 2))
            words = [f"{source}{number}.{i};" for i in range(chance.randint(1, 4))]
            sent.setdefault(source, []).extend((fd, word) for word in words)
            text = chance.choice(("", "\n")).join(words) + chance.choice(("", "", "\n"))
            lines.put(source, fd, text.encode())
            now += chance.random() * KEEP / 4
            got += lines.ready(now)
        got += lines.ready(float("inf"))
        assert len(lines) == 0
        words = [(fd, word) for fd, data in got for word in re.findall(r"\w+\.\d;", data.decode())]
        assert len(words) == sum(map(len, sent.values()))
        for source, said_by_it in sent.items():
            assert [(fd, word) for fd, word in words if word.startswith(source)] == said_by_it


def test_the_relay_keeps_lines_whole(capfd, monkeypatch):
    monkeypatch.setattr("isthmus.base.lines.KEEP", 60.0)  # however busy this machine is

    async def two_clusters():
        relay = OutputRelay(lambda: None)
        for number in range(100):
            for source, piece in (
                ("a", f"a {number}"),
                ("b", f"b {number}"),
                ("b", "\n"),
                ("a", "\n"),
            ):
                await relay.put(source, 1, piece.encode())
        await relay.drain()

    asyncio.run(two_clusters())
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == sorted(f"{source} {number}" for source in "ab" for number in range(100))
