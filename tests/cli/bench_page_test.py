"""The pages of `isthmus bench ... --html`."""

import sys
import time
from base64 import b64decode
from pathlib import Path

import pytest
from webpages import Page, alone, check_accessible

from isthmus.cli.cli import main
from isthmus.measuring.runs import Run
from isthmus.measuring.tasks import Task
from isthmus_lab.bench import figures, report
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.verdicts import Limit, Verdict
from isthmus_lab.measuring.results import Results

EVIL = "<script>alert(1)</script>[bold]"
SIZES = (8, 1 << 10, 1 << 20)


def written(tmp_path: Path, *verdicts: tuple[float, float], draw=None) -> Page:
    """The page of two contestants. A verdict is a value and the least that it has to be."""
    runs = [
        Run(key, 0, Task("pingpong", size, 2), 1, (2e-4 + size / 1e8, 1e-4 + size / 1e8))
        for key in ("isthmus", "tcp")
        for size in SIZES
    ]
    results = Results({"isthmus": "Isthmus", "tcp": EVIL}, runs, [EVIL])
    made = [
        Verdict(Limit("here", f"{EVIL} {n}", "at least", least, None), value, "a note")
        for n, (value, least) in enumerate(verdicts)
    ]
    out = Output(None, tmp_path / "bench.html", began=time.monotonic() - 3)
    report.p2p_table(results, "here", out.sheet)
    status = out.finish("here", results, made, draw and (lambda to: draw(results, "here", to)))
    assert status == (0 if all(value >= least for value, least in verdicts) else 1)
    return Page((tmp_path / "bench.html").read_text())


def test_a_page_has_what_was_printed(tmp_path, capsys):
    found = written(tmp_path, (2, 1), (1, 2))
    printed = capsys.readouterr().out
    ((_, title),) = found.all("h1")
    assert title == "Point to point on here"
    assert [text for _, text in found.all("caption")] == [title, "Limits"]
    cells = [text for tag in ("td", "th") for _, text in found.all(tag)]
    for text in ("50.0 (75.0)", "Isthmus", "8 B one way, us", "2.000", "missed", "a note"):
        assert text in printed
        assert text in [cell.replace("\u00a0", " ") for cell in cells]
    said = [text for _, text in found.all("p")]
    assert "1 of 2 limits are missed, or were not measured." in said
    assert "It took 3 s." in said
    assert f"not measured: {EVIL}" in said
    assert [text for attrs, text in found.all("strong")] == [f"{EVIL} 1"]


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [([], "Isthmus has no limits for this measurement."), ([(2, 1)], "All limits are reached.")],
)
def test_the_verdict(tmp_path, verdicts, said):
    assert said in [text for _, text in written(tmp_path, *verdicts).all("p")]


def test_a_page_needs_no_network_and_runs_nothing(tmp_path):
    pytest.importorskip("matplotlib")
    found = written(tmp_path, (1, 2), draw=figures.p2p)
    assert alone(found) == ""
    check_accessible(found)
    pictures = [attrs["src"].partition(",")[2] for attrs, _ in found.all("img")]
    assert len(pictures) == 2
    assert all(b"<svg" in b64decode(data) for data in pictures)
    assert [path.name for path in tmp_path.iterdir()] == ["bench.html"]


def test_a_page_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = written(tmp_path, draw=figures.p2p)
    assert not found.all("img")
    assert any("They need matplotlib" in text for _, text in found.all("p"))


def test_a_benchmark_writes_a_page(tmp_path, capsys):
    path = tmp_path / "sim.html"
    words = ["--clusters", "2", "--ranks", "8,16", "--collective", "bcast", "--size", "8 B"]
    assert main(["bench", "sim", *words, "--html", str(path)]) == 0
    found = Page(path.read_text())
    captions = [text for _, text in found.all("caption")]
    assert captions == ["2 clusters, 8 ranks", "2 clusters, 16 ranks"]
    capsys.readouterr()
    assert main(["bench", "sim", *words, "--html", str(tmp_path)]) == 2
    assert "cannot write: Is a directory" in capsys.readouterr().err
