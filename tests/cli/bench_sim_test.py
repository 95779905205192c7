"""`isthmus bench sim`: tables, bounds, errors, and the program itself."""

import json
import stat

import pytest

from isthmus.base.errors import RunError
from isthmus.base.tables import console
from isthmus.cli.cli import main
from isthmus_lab.bench.sim import report
from isthmus_lab.bench.sim.play import SimTask, TooMuchError, simulate
from isthmus_lab.bench.sim.results import SimRun

NETWORK = {
    "wan_latency": 0.01,
    "wan_bandwidth": 125e6,
    "link_latency": 5e-5,
    "link_bandwidth": 12.5e6,
    "paths": 0,
}


def run(collective: str, size: int, seconds: float, asked: str = "", ranks: int = 16) -> SimRun:
    return SimRun(
        collective=collective, bytes=size, clusters=2, ranks=ranks, algorithm=asked or "striped",
        seconds=seconds, median=seconds, estimate=seconds, messages=10, events=40,
        busiest={"rank": 3, "way": "out", "bytes": size, "load": 0.5},
        wan=[{"from": 0, "to": 1, "bytes": size, "messages": 5}],
        network=NETWORK, simulated={"seconds": 1, "megabytes": 2}, asked=asked,
    )  # fmt: skip


def test_bounds_are_those_of_links_or_of_what_crosses():
    assert run("bcast", 1_250_000, 1).bound == pytest.approx(0.11)
    assert run("allreduce", 1_250_000, 1).bound == pytest.approx(0.21)
    assert run("barrier", 0, 1).bound == pytest.approx(0.01)
    # 64 blocks cross for 15 on each link; of 64 members 4096 for 127.
    assert run("alltoall", 12_500, 1).bound == pytest.approx(0.01 + 15 * 1e-3)
    assert run("alltoall", 12_500, 1, ranks=128).bound == pytest.approx(0.01 + 4096 * 1e-4)
    assert run("bcast", 1_250_000, 0.22).over_bound == pytest.approx(2)


def test_the_table_compares_with_the_choice(capsys):
    runs = [run("bcast", 1 << 20, 0.1), run("bcast", 1 << 20, 0.25, "magpie")]
    report.tables(runs, console())
    printed = capsys.readouterr().out
    assert "2 clusters, 16 ranks" in printed
    assert "striped (chosen)" in printed
    assert "2.50" in next(line for line in printed.splitlines() if "magpie" in line)


def bench_sim(capsys, *words: str) -> tuple[int, str, str]:
    try:
        status = main(["bench", "sim", *words])
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--clusters", "two"], "--clusters two: must be numbers from 1 to 1000"),
        (["--ranks", "0"], "--ranks 0: must be numbers"),
        (["--collective", "broadcast"], "--collective broadcast: cannot be simulated"),
        (["--size", "big"], "--size"),
        (["--algorithm", "strip"], "--algorithm strip: unknown algorithm"),
        (["--network", "wan-rate=fast"], "give bits a second"),
        (["--clusters", "9", "--ranks", "8"], "fewer --ranks than --clusters"),
    ],
)
def test_what_is_wrong_is_said(capsys, words, sentence):
    status, _, said = bench_sim(capsys, *words)
    assert status != 0
    assert sentence in said


def test_a_missing_program_is_told_with_the_remedy(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("isthmus.measuring.ends.built", lambda _: [])
    monkeypatch.setattr("isthmus.measuring.ends.find_isthmusd", lambda: tmp_path / "isthmusd")
    monkeypatch.setattr("isthmus.measuring.ends.sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("ISTHMUS_PREFIX", str(tmp_path))
    status, _, said = bench_sim(capsys)
    assert status == 1
    assert "isthmus-sim, a compiled part of Isthmus, was not found" in said
    assert "Reinstall Isthmus, or set ISTHMUS_PREFIX" in said


def test_a_program_that_says_nonsense_or_takes_long(tmp_path):
    program = tmp_path / "isthmus-sim"
    program.write_text("#!/bin/sh\necho nonsense\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    task = SimTask("bcast", 8, 2, 8, "")
    with pytest.raises(RunError, match="printed invalid results"):
        simulate(program, task, 30)
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    with pytest.raises(TooMuchError, match="not simulated within"):
        simulate(program, task, 0.2)


def test_a_small_grid_is_simulated(tmp_path, capsys):
    written = tmp_path / "sim.json"
    status, printed, _ = bench_sim(
        capsys, "--clusters", "2", "--ranks", "8", "--collective", "bcast", "--size", "1 MiB",
        "--algorithm", "all", "--json", str(written),
    )  # fmt: skip
    assert status == 0
    runs = [SimRun.model_validate(one) for one in json.loads(written.read_text())["runs"]]
    assert {one.asked for one in runs} >= {"", "magpie", "striped"}
    assert all(one.over_bound >= 1 for one in runs)
    assert all(one.wan[0]["bytes"] >= 1 << 20 for one in runs)
    assert "(chosen)" in printed


def test_what_is_too_much_is_told_and_the_rest_goes_on(capsys, monkeypatch):
    play = "isthmus_lab.bench.sim.play.SimTask.words"
    monkeypatch.setattr(play, with_few_messages(SimTask.words))
    words = ["--clusters", "2", "--ranks", "64", "--collective", "barrier"]
    status, printed, _ = bench_sim(capsys, *words, "--algorithm", "all")
    assert status == 0
    assert "counterparts (chosen)" in printed
    assert "takes more than 400 messages; give fewer ranks" in printed


def with_few_messages(words):
    return lambda task: [*words(task), "--most-messages", "400"]
