"""`isthmus tune`: what it measures, keeps, and what runs make of it."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from running import ran

from isthmus.base.errors import RunError, UsageError
from isthmus.grid import grid as grids
from isthmus.grid import networktext
from isthmus.grid.grid import ClusterSpec, Grid, LinkSpec
from isthmus.tune import commands, store
from isthmus.tune.agreement import judge, told
from isthmus.tune.figures import Figures, best, carried, parse

TWO = Grid(cluster={"a": ClusterSpec(), "b": ClusterSpec()})
EXIT = {"say": {"op": "exit", "status": 0, "signal": None, "joined": True, "finalized": True}}


def figures(**of_pair: float) -> Figures:
    cluster = {"ranks": 8, "latency": 5e-5, "rate": 12e6, "message": 2e-6}
    pair = {"between": ["a", "b"], "latency": 0.01, "rate": 95e6, "senders": 8, **of_pair}
    clusters = [{"name": "a", **cluster}, {"name": "b", **cluster, "latency": 7e-5, "rate": 11e6}]
    return Figures.model_validate({"clusters": clusters, "pairs": [pair]})


def test_of_clusters_and_pairs_the_worst_counts():
    assert figures().network() == (
        "wan-latency=10000.000us,wan-rate=760.0M,link-latency=70.000us,link-rate=88.0M,"
        "message-cost=2.000us,stream-cost=2.000us"
    )


def test_a_message_costs_what_one_alone_does():
    assert "message-cost=9.000us,stream-cost=2.000us" in figures(message=9e-6).network()


def test_in_one_room_a_segment_costs_what_a_message_does():
    assert "stream-cost=9.000us" in figures(message=9e-6, latency=2e-5).network()
    assert "stream-cost=2.000us" in figures(message=1e-6, latency=2e-5).network()
    # Also where the message's own cost is not believed: of a few runs it is the least.
    unsure = figures(message=9e-6, latency=2e-5).network({"message-cost"})
    assert "stream-cost=9.000us" in unsure
    assert "message-cost" not in unsure


def test_of_runs_the_best_counts():
    worse = figures(latency=0.02, rate=10e6)
    assert best([worse, figures()]) == best([figures(), worse]) == figures()


MIB = 1 << 20


def printed(**of_pair: float) -> str:
    """The output of tune.c for eight pairs over links of 100 Mbit/s, with 16 messages each."""
    cluster = {"ranks": 8, "latency": 5e-5, "bytes": 11 * MIB, "seconds": 0.97, "message": 2e-6}
    pair = {"between": ["a", "b"], "latency": 0.01, "senders": 8, "message": 2e-5}
    data = {
        "clusters": [{"name": "a", **cluster}, {"name": "b", **cluster}],
        "pairs": [{**pair, "bytes": 8 * 16 * MIB, "seconds": 3.278, **of_pair}],
    }
    return json.dumps(data)


def test_a_rate_is_what_went_over_the_time_until_all_of_it_was_there():
    """Recorded: eight pairs had complete first windows after 2.5 to 3.1 s, and everything after 2.8
    to 3.3 s. After the first windows they carried 4645 Mbit/s over links of 100."""
    found = parse(printed())
    assert 8 * found.pairs[0].rate == pytest.approx(330e6, rel=0.01)
    assert 8 * found.clusters[0].rate == pytest.approx(95e6, rel=0.01)


def test_the_round_trip_before_anything_comes_is_not_counted():
    assert carried(100e6, 1.2, 0.1) == pytest.approx(100e6)
    assert carried(1e6, 0.1, 0.1) == 1e6 / 0.05  # a trip that took longer than all of it is none
    assert carried(0, 0, 0.1) == 0


def test_members_links_narrower_than_the_network_are_what_a_rate_is_compared_with():
    link = LinkSpec.model_validate({"between": ["a", "b"], "rate": "10 Gbit/s"})
    grid = TWO.model_copy(update={"link": [link]})
    narrow = figures(rate=84e6)  # of links of 11 MB/s each
    assert not judge([narrow, narrow], grid).doubts
    wrong = figures(rate=480e6)
    assert [doubt.sentence for doubt in judge([wrong, wrong], grid).doubts] == [
        "a and b: the bandwidth is 545 % of the capacity of 8 links of members"
    ]


def test_a_second_run_near_the_best_makes_it_sure():
    busy = figures(rate=34.5e6, latency=0.04)
    alone = judge([busy, figures()], TWO)
    assert alone.left_out == {"wan-rate", "wan-latency"}
    assert "a and b: the bandwidth differs by 64 % between the best runs" in [
        doubt.sentence for doubt in alone.doubts
    ]
    sure = judge([busy, figures(), figures(rate=94e6, latency=0.0101)], TWO)
    assert (sure.doubts, sure.figures) == ([], figures())
    assert max(spread for spread in sure.spreads if spread is not None) < 0.02


def test_microseconds_are_no_difference():
    """Ranks of b by 5 and 9 us, as recorded."""
    quick, slow = figures(), figures()
    quick.clusters[1].latency, slow.clusters[1].latency = 5.3e-6, 8.9e-6
    assert not judge([quick, slow], TWO).doubts
    slow.clusters[1].latency = 11e-6
    assert judge([quick, slow], TWO).left_out == {"link-latency"}


def test_runs_that_agree_but_contradict_the_grid_file_are_not_believed():
    """As recorded on a busy machine: 276 Mbit/s where the link has 700."""
    link = LinkSpec.model_validate({"between": ["b", "a"], "rate": "700 Mbit/s", "rtt": "11.6 ms"})
    grid = TWO.model_copy(update={"link": [link]})
    busy = figures(rate=34.5e6, latency=0.0058)
    found = judge([busy, busy], grid)
    assert [doubt.sentence for doubt in found.doubts] == [
        "a and b: the bandwidth is 39 % of the 700 Mbit/s in the grid file"
    ]
    assert "wan-rate" not in found.figures.network(found.left_out)
    assert "wan-latency=5800.000us" in found.figures.network(found.left_out)
    late = figures(latency=0.02)
    assert judge([late, late], grid).left_out == {"wan-latency"}


def test_a_message_cannot_cost_more_than_its_way():
    odd = figures(latency=20e-6, message=118e-6)
    assert judge([odd, odd], TWO).left_out == {"message-cost"}


def test_it_is_measured_until_two_runs_agree(capsys):
    results = [figures(rate=30e6), figures(rate=70e6), figures(), figures(rate=96e6)]
    taken = iter(results)
    verdict = commands._measured(lambda: next(taken), TWO, 8)
    assert list(taken) == []
    assert not verdict.doubts
    assert capsys.readouterr().err.count("measuring, run") == 4


def test_it_ends_unsure_after_the_last_run():
    results = iter([figures(rate=30e6), figures(rate=50e6), figures(rate=90e6)])
    verdict = commands._measured(lambda: next(results), TWO, 3)
    assert verdict.left_out == {"wan-rate"}


@pytest.mark.parametrize(("seconds", "narrow"), [(1.0, False), (5.0, True), (0.0, False)])
def test_a_cluster_of_narrow_bisection_is_told(seconds: float, narrow: bool, capsys):
    data = json.loads(printed())
    data["clusters"][0] |= {"halves": 4, "halves_bytes": 40 * MIB, "halves_seconds": seconds}
    found = best([parse(json.dumps(data)), parse(printed())])
    assert [cluster.narrow for cluster in found.clusters] == [narrow, False]
    commands.show_halves(found)
    said = capsys.readouterr().out
    assert ("between the halves of a: 67.1" in said and "4 links have 38" in said) == narrow


def test_what_could_not_be_measured_is_left_to_the_defaults():
    nothing = {"bytes": 0, "seconds": 0}
    alone = parse(
        json.dumps(
            {
                "clusters": [{"name": "a", "ranks": 1, "latency": 0, "message": 0, **nothing}],
                "pairs": [{"between": ["a", "b"], "latency": 0.01, "senders": 1, **nothing}],
            }
        )
    )
    assert alone.network() == "wan-latency=10000.000us"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"clusters": [{}], "pairs": []}'])
def test_nonsense_is_refused(text: str):
    with pytest.raises(RunError, match="invalid figures"):
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
    assert given(grid) == [figures().network()] * 2  # measured, it takes their place
    for one in grid.installs.values():
        (one.home / "heard.jsonl").unlink()
    grid.run("-n", "2", "-x", "ISTHMUS_NETWORK=wan-latency=1ms", "x")
    assert given(grid) == ["wan-rate=1000.0M,wan-latency=1ms"] * 2


def three(**of_pairs: tuple[float, float]) -> Figures:
    """Latency and rate by pair, as ab."""
    cluster = {"ranks": 8, "latency": 5e-5, "rate": 12e6, "message": 2e-6}
    return Figures.model_validate(
        {
            "clusters": [{"name": name, **cluster} for name in "abc"],
            "pairs": [
                {"between": list(names), "latency": latency, "rate": rate, "senders": 8}
                for names, (latency, rate) in of_pairs.items()
            ],
        }
    )


def test_pairs_that_differ_from_the_worst_are_told():
    near_and_far = three(ab=(0.0005, 1e9), ac=(0.02, 95e6), bc=(0.0195, 90e6))
    text = near_and_far.network()
    assert text.startswith("wan-latency=20000.000us,wan-rate=720.0M,")
    assert [entry for entry in text.split(",") if entry.startswith("pair=")] == [
        "pair=a/b:500.000us:8000.0M"
    ]
    assert "pair=a/b::8000.0M" in near_and_far.network({"wan-latency"})
    assert "pair=a/b:500.000us," in near_and_far.network({"wan-rate"}) + ","
    alike = three(ab=(0.02, 95e6), ac=(0.021, 95e6), bc=(0.0195, 90e6))
    assert "pair=" not in alike.network()


def test_of_links_one_after_the_other_both_count():
    """a - b near, b - c far: what a and c send each other takes both."""
    links = [
        LinkSpec.model_validate({"between": ["a", "b"], "rtt": "2 ms", "rate": "10 Gbit/s"}),
        LinkSpec.model_validate({"between": ["c", "b"], "rtt": "40 ms", "rate": "1 Gbit/s"}),
    ]
    grid = Grid(cluster={name: ClusterSpec() for name in "abc"}, link=links)
    assert networktext.of_links(grid) == (
        "wan-latency=21000.000us,wan-rate=1000.0M,pair=a/b:1000.000us:10000.0M,"
        "shared=a/c+b/c:1000.0M,shared=a/b+a/c:10000.0M"
    )
    assert networktext.of_links(grid, {"wan-latency", "wan-rate"}) == (
        "shared=a/c+b/c:1000.0M,shared=a/b+a/c:10000.0M"
    )
    assert networktext.of_links(TWO) == ""


def test_what_pairs_share_is_said_in_the_grid_file():
    text = """
        [cluster.a]
        [cluster.b]
        [cluster.c]
        [[shared]]
        between = [["a", "c"], ["b", "c"]]
        rate    = "1 Gbit/s"
    """
    assert networktext.of_links(grids.parse(text, "g")) == "shared=a/c+b/c:1000.0M"
    for wrong, what in (
        ('[["a", "c"]]', "at least two pairs of clusters; it has 1"),
        ('[["a", "c"], ["b"]]', "must have two clusters in each pair; one pair has 'b'"),
        ('[["a", "c"], ["b", "b"]]', "must have two clusters in each pair"),
        ('[["a", "c"], ["b", "z"]]', "names a cluster 'z' that is not in the file"),
    ):
        with pytest.raises(UsageError, match=what):
            grids.parse(text.replace('[["a", "c"], ["b", "c"]]', wrong), "g")


def test_the_text_of_many_clusters_is_bounded():
    """A search through all ways between them would not end."""
    names = [f"{'long' * 14}{i}" for i in range(64)]
    links = [
        LinkSpec.model_validate({"between": [a, b], "rtt": f"{1 + i} ms", "rate": "1 Gbit/s"})
        for i, (a, b) in enumerate(itertools.pairwise(names))
    ]
    grid = Grid(cluster={name: ClusterSpec() for name in names}, link=links)
    assert len(networktext.of_links(grid)) < 2 * networktext.MOST + 100


def test_a_pair_of_clusters_that_are_not_in_the_grid_is_refused(tuned):
    done = tuned.run("-n", "2", "-x", "ISTHMUS_NETWORK=pair=east/wets:1ms", "x")
    assert done.returncode == 2
    assert "a cluster 'wets' that is not in the grid; did you mean 'west'?" in done.stderr


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
    assert "grid.tune.json was not written by isthmus tune" in done.stderr


def tune(*words: object) -> subprocess.CompletedProcess[str]:
    return ran([sys.executable, "-m", "isthmus", "tune", *words])


def test_this_host_is_measured(tmp_path: Path):
    file = tmp_path / "two.toml"
    # The grid file's own program does not replace the measuring program.
    file.write_text('[cluster.east]\n[cluster.west]\nprogram = "/no/such/program"\n')
    done = tune("-g", file, "--passes", 1, "--mpicc", "mpicc.openmpi")
    assert done.returncode == 0, done.stderr
    assert "east and west" in done.stdout
    assert "isthmus: measuring, run 1 of at most 1" in done.stderr.splitlines()
    kept = store.read(file)
    assert not kept.trouble
    # A busy host may make figures contradict each other. The command then says which it left out.
    for key in ("wan-latency=", "wan-rate=", "link-latency=", "link-rate="):
        assert key in kept.network or "not kept: " in done.stderr
    assert tune("-g", file, "--forget").returncode == 0
    assert store.read(file) == store.Stored()


def test_without_a_grid_file_there_is_nothing_to_tune(monkeypatch):
    monkeypatch.delenv("ISTHMUS_GRID", raising=False)
    done = tune()
    assert done.returncode == 2
    assert "no grid file is named" in done.stderr


@pytest.mark.parametrize(("spread", "words"), [(0.123, "12 %"), (15.35, "a factor of 16.4")])
def test_large_differences_are_factors(spread, words):
    assert told(spread) == words
