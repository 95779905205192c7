"""`isthmus tune`: what it measures, keeps, and what runs make of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from isthmus.errors import RunError
from isthmus.tune import store
from isthmus.tune.figures import Figures, best, parse

EXIT = {"say": {"op": "exit", "status": 0, "signal": None, "joined": True, "finalized": True}}


def figures(**of_pair: float) -> Figures:
    cluster = {"ranks": 8, "latency": 5e-5, "rate": 12e6, "message": 2e-6}
    pair = {"between": ["a", "b"], "latency": 0.01, "rate": 95e6, "senders": 8, **of_pair}
    clusters = [{"name": "a", **cluster}, {"name": "b", **cluster, "latency": 7e-5, "rate": 11e6}]
    return parse(json.dumps({"clusters": clusters, "pairs": [pair]}))


def test_of_clusters_and_pairs_the_worst_counts():
    assert figures().network() == (
        "wan-latency=10000.000us,wan-rate=760.0M,link-latency=70.000us,link-rate=88.0M,"
        "message-cost=2.000us,stream-cost=2.000us"
    )


def test_a_message_costs_what_one_alone_does():
    assert "message-cost=9.000us,stream-cost=2.000us" in figures(message=9e-6).network()


def test_of_runs_the_best_counts():
    worse = figures(latency=0.02, rate=10e6)
    assert best([worse, figures()]) == best([figures(), worse]) == figures()


def test_what_could_not_be_measured_is_left_to_the_defaults():
    alone = parse(
        '{"clusters": [{"name": "a", "ranks": 1, "latency": 0, "rate": 0, "message": 0}],'
        ' "pairs": [{"between": ["a", "b"], "latency": 0.01, "rate": 0, "senders": 1}]}'
    )
    assert alone.network() == "wan-latency=10000.000us"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"clusters": [{}], "pairs": []}'])
def test_nonsense_is_refused(text: str):
    with pytest.raises(RunError, match="nonsense"):
        parse(text)


@pytest.fixture
def tuned(pair):
    """Two clusters that end well, tuned."""
    scenario = {"on": {"spawn": [{"say": {"op": "spawned"}}, EXIT]}}
    grid = pair(scenario, json.loads(json.dumps(scenario)))
    store.write(grid.file, figures(), "today")
    return grid


def given(grid) -> list[str | None]:
    """ISTHMUS_NETWORK as each cluster's ranks got it."""
    parts = [part for one in grid.installs.values() for part in one.told("spawn")["parts"]]
    return [part.get("env", {}).get("ISTHMUS_NETWORK") for part in parts]


def test_runs_use_what_was_measured(tuned):
    done = tuned.run("-n", "2", "x")
    assert (done.returncode, done.stderr) == (0, "")
    assert given(tuned) == [figures().network()] * 2


@pytest.mark.parametrize("how", [["-x", "ISTHMUS_NETWORK=wan-rate=1M"], []])
def test_the_user_has_the_last_word(tuned, how):
    env = {} if how else {"ISTHMUS_NETWORK": "wan-rate=1M"}
    done = tuned.run("-n", "2", *how, "x", env=env)
    assert done.returncode == 0, done.stderr
    assert given(tuned) == ["wan-rate=1M"] * 2


def test_what_the_grid_file_says_of_links_comes_first(pair):
    scenario = {"on": {"spawn": [{"say": {"op": "spawned"}}, EXIT]}}
    grid = pair(scenario, json.loads(json.dumps(scenario)))
    grid.extra = '[[link]]\nbetween = ["east", "west"]\nrate = "1 Gbit/s"\nrtt = "20 ms"'
    links = "wan-latency=10000.000us,wan-rate=1000.0M"
    grid.run("-n", "2", "x")
    assert given(grid) == [links] * 2
    store.write(grid.file, figures(), "today")
    for one in grid.installs.values():
        (one.home / "heard.jsonl").unlink()
    grid.run("-n", "2", "x")
    assert given(grid) == [f"{links},{figures().network()}"] * 2


def test_a_grid_file_that_has_changed_is_told(tuned):
    tuned.extra = "# a comment changes nothing"
    assert tuned.run("-n", "2", "x").stderr == ""
    tuned.extra = '[[link]]\nbetween = ["east", "west"]\nrate = "1 Gbit/s"'
    done = tuned.run("-n", "2", "x")
    assert done.returncode == 0
    assert "has changed since isthmus tune measured it" in done.stderr


def test_a_file_that_is_none_of_ours_is_told(tuned):
    store.path_for(tuned.file).write_text("[]")
    done = tuned.run("-n", "2", "x")
    assert (done.returncode, given(tuned)) == (0, [None, None])
    assert "grid.tune.json is not what isthmus tune wrote" in done.stderr


def tune(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "isthmus", "tune", *map(str, words)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_this_host_is_measured(tmp_path: Path):
    file = tmp_path / "two.toml"
    file.write_text("[cluster.east]\n[cluster.west]\n")
    done = tune("-g", file, "--passes", 1, "--mpicc", "mpicc.openmpi")
    assert done.returncode == 0, done.stderr
    assert "east and west" in done.stdout
    kept = store.read(file)
    assert not kept.trouble
    for key in ("wan-latency=", "wan-rate=", "link-latency=", "link-rate=", "message-cost="):
        assert key in kept.network
    assert tune("-g", file, "--forget").returncode == 0
    assert store.read(file) == store.Stored()


def test_without_a_grid_file_there_is_nothing_to_tune(monkeypatch):
    monkeypatch.delenv("ISTHMUS_GRID", raising=False)
    done = tune()
    assert done.returncode == 2
    assert "there is no grid to tune" in done.stderr
