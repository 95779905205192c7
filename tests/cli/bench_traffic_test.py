"""The traffic over the wide area while contestants have their turns: read, kept, drawn."""

import json
from pathlib import Path

import pytest

from isthmus_lab.bench import traffic as pictures
from isthmus_lab.lab import traffic
from isthmus_lab.lab.traffic import Way
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import NotMeasuredError
from isthmus_lab.measuring.traffic import Crossed

BURST = tuple((1000 + i, 10_000, i == 7) for i in range(100))


def test_a_box_is_asked_until_it_has_told_all(monkeypatch):
    held = [[at, 10, 0] for at in range(100, 110)]

    def ask(_lab, link, op, way, since):
        assert (link, op, way) == ("a-b", "traffic", "ab")
        rows = [row for row in held if row[0] >= since][:4]
        held.append([held[-1][0] + 1, 10, 0])  # more comes while it is asked
        return {"now": held[-2][0], "milliseconds": rows}

    monkeypatch.setattr(traffic.wan, "ask", ask)
    found = traffic.since(None, Way("a-b", "ab", "a>b"), 103)
    assert found == [(at, 10, 0) for at in range(103, 110)]


def test_what_crossed_is_kept_with_the_results():
    crossed = [Crossed("tcp", 0, "a>b", BURST), Crossed("tcp", 0, "b>a", ())]
    results = Results({"tcp": "TCP", "isthmus": "Isthmus"}, traffic=crossed)
    read = Results()
    read.merge(json.loads(json.dumps(results.as_json())), "2 zipper nodes")
    assert read.traffic[0].rows == BURST
    assert read.traffic[1].variant == "2 zipper nodes"
    assert read.dropped("tcp") == 1
    with pytest.raises(NotMeasuredError, match="Isthmus: the wide area was not watched"):
        read.dropped("isthmus")


def test_the_busiest_begins_with_the_burst():
    rows = ((0, 50_000, 0), *((at, 10, 0) for at in range(800, 1000, 3)), *BURST, (1300, 10, 0))
    assert Crossed("tcp", 0, "a>b", rows).busiest(300) == (1000, 1300)
    assert Crossed("tcp", 0, "a>b", ()).busiest(300) == (0, 300)


def test_pictures_are_of_the_way_that_carries_most(tmp_path: Path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn = []
    real = pictures._draw

    def draw(curves, where, path):
        drawn.extend((label, one.way, one.round) for label, one in curves)
        return real(curves, where, path)

    monkeypatch.setattr(pictures, "_draw", draw)
    crossed = [
        Crossed("tcp", i, way, rows)
        for i in (0, 1)
        for way, rows in (("a>b", BURST), ("b>a", BURST[:5]))
    ]
    made = pictures.traffic(Results({"tcp": "TCP"}, traffic=crossed), "lab", tmp_path)
    assert [path.name for path in made] == ["lab-traffic.png", "lab-traffic.svg"]
    assert drawn == [("TCP", "a>b", 1)]
    assert pictures.traffic(Results(), "lab", tmp_path) == []
