"""`isthmus bench papers` for real: the quickest figure, from the benchmark to the picture."""

import json
import math
from pathlib import Path

import pytest

from isthmus.cli import main


def test_the_smallest_figure_is_had(tmp_path: Path, monkeypatch, capfd):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "python"))
    file, folder = tmp_path / "found.json", tmp_path / "figures"
    words = ["madeleine-fig6-7", "--quick", "--json", str(file), "--figures", str(folder)]
    assert main(["bench", "papers", *words]) == 0
    (figure,) = json.loads(file.read_text())["figures"]
    assert figure["failures"] == []
    # The cost of a gateway is a difference of two times: on a loaded machine it may be less than 0.
    here = {found["what"]: found["here"] for found in figure["findings"]}
    assert all(math.isfinite(value) for value in here.values())
    assert all(value > 0 for what, value in here.items() if what != "what a gateway adds")
    drawn = {path.name for path in (folder / "madeleine-fig6-7").glob("*.svg")}
    assert {"madeleine-fig6-7-beside-the-paper.svg", "loopback-bandwidth-default.svg"} <= drawn
    assert "| least transfer time | 70 us | " in capfd.readouterr().out
