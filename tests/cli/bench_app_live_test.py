"""`isthmus bench app` for real: kernels and a given program on this host, and delays in a lab."""

import json
import os
from pathlib import Path

import pytest

from isthmus.cli.cli import main
from isthmus.measuring.program import prepare
from isthmus_lab.bench.app.programs import KERNEL_FOLDER


def measure(file: Path, *words: str) -> dict:
    common = ["--native", "openmpi", "--no-tune", "--repetitions", "1", "--json", str(file)]
    assert main(["bench", "app", *words, *common]) == 0
    data = json.loads(file.read_text())
    assert data["failures"] == []
    return data


def test_kernels_on_this_host(tmp_path: Path, capsys):
    words = ["--testbed", "loopback", "--kernel", "[el][pu]", "--class", "S", "--only", "isthmus"]
    data = measure(tmp_path / "out.json", *words, "-n", "2,4", "--layout", "split")
    made = {(run["program"], run["n"], run["ranks"], run["layout"]) for run in data["runs"]}
    assert made == {(name, n, n, "split") for name in ("ep.S", "lu.S") for n in (2, 4)}
    assert all(0 < run["seconds"] < run["wall"] for run in data["runs"])
    assert "lu.S, split of 4" in capsys.readouterr().out


def test_a_given_program_on_this_host(tmp_path: Path):
    program = prepare("mpicc.openmpi", None, KERNEL_FOLDER / "is.c")
    words = ["--program", f"openmpi={program} {{class}}", "--name", "sort", "--class", "S"]
    words += ["--time", "time: ([0-9.]+) s", "--require", "^verified: yes"]
    words += ["--layout", "half-site", "--only", "isthmus-memory", "-n", "4"]
    data = measure(tmp_path / "out.json", "--testbed", "loopback", *words)
    (run,) = data["runs"]
    assert (run["program"], run["ranks"], run["layout"]) == ("sort", 2, "half-site")
    assert run["seconds"] < run["wall"]


def test_over_delays_in_a_lab(tmp_path: Path, monkeypatch, capfd):
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun may not be opened here, so there are no labs")
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "python"))
    words = ["--testbed", "hablot", "--kernel", "is", "--class", "S", "-n", "4"]
    words += ["--layout", "split", "--layout", "half-site", "--delay", "0,20ms"]
    words += ["--only", "isthmus-direct", "--only", "native-openmpi4.1-tuned"]
    data = measure(tmp_path / "out.json", *words)
    assert "delay 20 ms" in capfd.readouterr().out
    assert len(data["runs"]) == 8
    for run in data["runs"]:
        crossed = run["layout"] == "split" and run["variant"] == "delay 20 ms"
        if crossed:
            assert run["seconds"] >= 30 * 20e-3  # thirty exchanges, none quicker than the wire
