"""`isthmus bench papers`: the shelf, what is read off results, and the page, without measuring."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main
from isthmus.measuring.runs import Run
from isthmus.measuring.tasks import MIB, Task
from isthmus_lab.bench import figures as p2p_figures
from isthmus_lab.bench.app.layouts import ONE, QUARTER, SPLIT
from isthmus_lab.bench.app.results import AppResults, AppRun
from isthmus_lab.bench.coll.results import CollResults, CollRun
from isthmus_lab.bench.coll.tasks import CollTask
from isthmus_lab.bench.commands import bench_app
from isthmus_lab.bench.cost.results import CostResults, CostRun
from isthmus_lab.bench.papers import command, play, report, shelf
from isthmus_lab.bench.papers.recipe import RESULTS, Claim, Measured, Measurement, Paper, Recipe
from isthmus_lab.measuring.machine import Machine
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import NotMeasuredError

ROOT = Path(__file__).parents[2]
PAPER = Paper("p", "A paper")


def recipe(name: str):
    (found,) = shelf.chosen([name])
    return found


def values(name: str, kind: str, results) -> dict[str, float | None]:
    """The verdict of a recipe whose one benchmark has left these results."""
    measured = Measured()
    measured.add("", kind, json.loads(json.dumps(results.as_json())))
    found: dict[str, float | None] = {}
    for claim in recipe(name).claims:
        try:
            found[claim.what] = claim.here(measured)
        except NotMeasuredError:
            found[claim.what] = None
    return found


# -- the shelf ------------------------------------------------------------------------------------


def test_names_begin_with_their_papers_and_differ():
    names = [one.name for one in shelf.RECIPES]
    assert len(set(names)) == len(names)
    assert all(one.name.startswith(f"{one.paper.key}-") for one in shelf.RECIPES)


def test_patterns_choose_each_once():
    assert [one.name for one in shelf.chosen(["hablot-fig4", "hablot-fig*"])] == [
        "hablot-fig2",
        "hablot-fig3",
        "hablot-fig4",
        "hablot-fig5",
        "hablot-fig6-7",
        "hablot-fig7",
    ]
    with pytest.raises(UsageError, match="'hablot-fig9'; did you mean 'hablot-fig"):
        shelf.chosen(["hablot-fig9"])


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("one", shelf.RECIPES, ids=lambda one: one.name)
def test_every_measurement_is_a_command_line(one, quick):
    group = typer.main.get_command(bench_app)
    for measurement in one.measurements.values():
        kind, *words = measurement.command(quick)
        group.commands[kind].make_context(kind, words)  # complains about what it does not know


# -- what is read off results ---------------------------------------------------------------------


def test_latencies_of_table_4():
    def run(key: str, microseconds: float) -> Run:
        return Run(key, 0, Task("pingpong", 8, 1), 1, (2e-6 * microseconds,))

    runs = [run("tcp", 5800), run("isthmus-direct", 5805), run("native-x-default", 5807)]
    found = values(
        "hablot-table4", "p2p", Results({r.contestant: r.contestant for r in runs}, runs)
    )
    assert found["TCP, one way"] == pytest.approx(5800)
    assert found["MPICH2 adds; here Isthmus, direct"] == pytest.approx(5)
    assert found["MPICH-Madeleine adds; here Isthmus, two gateways"] is None
    assert found["in one cluster: TCP, one way"] is None


def test_ways_through_a_gateway(tmp_path: Path):
    runs = [
        Run("isthmus", 0, Task(way, size, 1), 1, (seconds, 2 * seconds))
        for way, size, seconds in (("there", 8, 50e-6), ("back", 8, 60e-6), ("there", MIB, 0.04))
    ]
    found = values("madeleine-ways", "p2p", Results({"isthmus": "Isthmus"}, runs))
    assert found["8 B one way, from the faster network"] == pytest.approx(50)
    assert found["8 B: the slower way over the quicker one"] == pytest.approx(1.2)
    assert found["1 MiB: the same"] is None
    pytest.importorskip("matplotlib")
    measured = Measured()
    measured.add("", "p2p", Results({"isthmus": "Isthmus"}, runs).as_json())
    (drawn, _) = recipe("madeleine-ways").draw(measured, tmp_path)
    assert drawn.name == "ways.png"
    made = p2p_figures.p2p(Results({"isthmus": "Isthmus"}, runs), "leiden", tmp_path)
    assert [path.name for path in made] == ["leiden-ways.png", "leiden-ways.svg"]


def test_kernels_of_figures_6_and_7():
    runs = []
    for kernel, one, split, quarter in (("ep", 10, 10, 40), ("lu", 10, 12.5, 40), ("cg", 1, 4, 3)):
        for layout, seconds in ((ONE, one), (SPLIT, split), (QUARTER, quarter)):
            runs.append(
                AppRun("isthmus-direct", 0, f"{kernel}.S", layout, 16, 16, seconds, seconds)
            )
    chance = [
        AppRun("isthmus-direct", 0, "mg.S", layout, 16, 16, seconds, seconds)
        for layout, seconds in ((ONE, 3), (SPLIT, 2))
    ]
    found = values("hablot-fig6-7", "app", AppResults({"isthmus-direct": "I"}, [*runs, *chance]))
    assert found["kernels that lose less than 20 % (Figure 6)"] is None  # MG gains: noise
    found = values("hablot-fig6-7", "app", AppResults({"isthmus-direct": "Isthmus"}, runs))
    assert found["kernels that lose less than 20 % (Figure 6)"] == 1
    assert found["LU, split over a quarter (Figure 7)"] == pytest.approx(3.2)
    assert found["BT, split over a quarter (Figure 7)"] is None


def test_kernels_of_figure_5_beside_native_ones():
    runs = [
        AppRun(key, 0, f"{kernel}.S", SPLIT, 8, 8, seconds, seconds)
        for kernel, ours, native in (("ep", 10, 10), ("lu", 8, 2), ("cg", 1, None))
        for key, seconds in (("isthmus-direct", ours), ("native-mpich4.0-default", native))
        if seconds
    ]
    labels = {"isthmus-direct": "Isthmus", "native-mpich4.0-default": "MPICH"}
    found = values("hablot-fig5", "app", AppResults(labels, runs))
    assert found["kernels that end (BT and SP did not with Madeleine)"] == 3
    assert found["kernels at most 1.02 times the best native MPI's time"] == 1
    assert found["time over the best native MPI's, geometric mean"] == pytest.approx(2)


def test_an_application_is_compared_where_it_is_split():
    runs = [
        AppRun(key, 0, "lammps.melt", layout, 8, 8, seconds, seconds)
        for key, layout, seconds in (
            ("isthmus-direct", SPLIT, 6),
            ("isthmus-direct", ONE, 3),
            ("native-x-default", SPLIT, 4),
            ("native-x-default", ONE, 1),
        )
    ]
    labels = {"isthmus-direct": "Isthmus", "native-x-default": "x"}
    found = values("hablot-applications", "app", AppResults(labels, runs))
    assert found["time over the best native MPI's, split"] == pytest.approx(1.5)
    assert found["split over one site (as Figure 6)"] == pytest.approx(0.5)
    assert found["split over a quarter (as Figure 7)"] is None


def test_other_ways_over_the_bridge_count_by_one_node():
    def runs(key: str, variant: str, microseconds: float, messages: float) -> list[Run]:
        trip = Run(key, 0, Task("pingpong", 8, 1), 1, (2e-6 * microseconds,), variant=variant)
        return [trip, Run(key, 0, Task("stream", MIB, 1, 1.0), 1, (1.0,), (messages,), variant)]

    measured = [
        *runs("isthmus", "1 zipper node", 100, 11),
        *runs("isthmus", "2 zipper nodes", 50, 22),
        *runs("relay-haproxy", "1 zipper node", 90, 10),
        *runs("relay-ssh", "1 zipper node", 200, 9),
        *runs("relay-ssh", "2 zipper nodes", 20, 90),
    ]
    labels = {one.contestant: one.contestant for one in measured}
    found = values("treurniet-others", "p2p", Results(labels, measured))
    assert found["latency of 8 B, Isthmus"] == pytest.approx(100)
    assert found["latency of 8 B, the best other way"] == pytest.approx(90)
    assert found["one way, Isthmus"] == pytest.approx(8e-6 * 11 * MIB)
    assert found["one way, the best other way"] == pytest.approx(8e-6 * 10 * MIB)
    assert found["both ways, Isthmus"] is None


def test_gains_of_matsudas_figure_6_are_of_the_largest_message():
    def run(key: str, collective: str, size: int, seconds: float) -> CollRun:
        return CollRun(key, 0, CollTask(collective, size, 1), 16, (seconds,), (seconds,))

    runs = [
        run("isthmus-direct/two-level", "bcast", 8, 1),
        run("isthmus-direct/two-level", "bcast", 3_200_000, 3.0),
        run("isthmus-direct/senders=1", "bcast", 3_200_000, 4.0),
        run("isthmus-direct/senders=8", "bcast", 3_200_000, 2.0),
    ]
    found = values("matsuda-fig6", "coll", CollResults({r.contestant: "" for r in runs}, runs))
    assert found["bcast: farfirst over the best n"] == 1.5
    assert found["bcast: farfirst over n = 1, by the same"] == 0.75
    assert found["allreduce: two-tier over the best n"] is None


@pytest.mark.parametrize("one", shelf.RECIPES, ids=lambda one: one.name)
def test_results_without_runs_are_told(one):
    """A benchmark in which everything failed still leaves results."""
    measured = Measured()
    for name, measurement in one.measurements.items():
        empty = RESULTS[measurement.kind]()
        measured.add(name, measurement.kind, empty.as_json())
    for claim in one.claims:
        with pytest.raises(NotMeasuredError):
            claim.here(measured)


def test_variants_of_a_testbed_are_kept():
    def run(figure: str, messages: float, variant: str) -> Run:
        return Run("isthmus", 0, Task(figure, MIB, 1, 1.0), 1, (1.0,), (messages,), variant)

    runs = [
        run("stream", 100, "1 zipper node"),
        run("stream", 198, "2 zipper nodes"),
        Run("isthmus", 0, Task("pingpong", 8, 1), 1, (500e-6,), (), "1 zipper node"),
    ]
    found = values("treurniet-others", "p2p", Results({"isthmus": "Isthmus"}, runs))
    assert found["one way, Isthmus"] == pytest.approx(8e-6 * 100 * MIB)
    assert found["latency of 8 B, Isthmus"] == pytest.approx(250)


def over_the_bridge(key: str, stream: float) -> dict:
    """Round trips and streams of two sizes; both ways carry 1.9 times as much."""
    runs = [Run(key, 0, Task("pingpong", size, 1), 1, (1e-3,)) for size in (8, MIB)]
    for size in (MIB // 4, MIB):
        for figure, rate in (("stream", stream), ("bidirectional", 0.95 * stream)):
            task = Task(figure, size, 1, 1.0)
            runs.append(Run(key, 0, task, 1, (1.0,), (rate * size / MIB,)))
    return Results({key: key}, runs).as_json()


def test_figure_6_of_the_thesis_has_both_clusters_beside(tmp_path: Path):
    measured = Measured()
    measured.add("", "p2p", over_the_bridge("isthmus", 5))
    measured.add("das", "p2p", over_the_bridge("native-openmpi4.1-default", 30))
    measured.add("lgm", "p2p", over_the_bridge("native-openmpi4.1-default", 8))
    one = recipe("treurniet-fig6")
    found = {claim.what: claim.here(measured) for claim in one.claims}
    assert found["both ways over one way (its forwarder is half duplex)"] == pytest.approx(1.9)
    assert found["LGM's own, one way, a hundredth of 780 MB/s"] == pytest.approx(8e-6 * 8 * MIB)
    pytest.importorskip("matplotlib")
    from isthmus_lab.bench.papers import figures  # noqa: PLC0415

    made = figures.together(play.Outcome(one, measured=measured), tmp_path)
    names = [path.name for path in made if path.suffix == ".png"]
    assert names == ["fig6-stream.png", "fig6-bidirectional.png", "fig6-latency.png"]
    assert figures.together(play.Outcome(one), tmp_path) == []


def test_a_transfer_through_a_gateway_is_compared_with_both_networks(tmp_path: Path):
    measured = Measured()
    for name, seconds in (("", 80e-6), ("das", 20e-6), ("lgm", 30e-6)):
        runs = [
            Run("isthmus", 0, Task("pingpong", s, 1), 1, (2 * seconds,)) for s in (8, MIB, 2 * MIB)
        ]
        measured.add(name, "p2p", Results({"isthmus": "Isthmus"}, runs).as_json())
    one = recipe("madeleine-fig6-7")
    found = {claim.what: claim.here(measured) for claim in one.claims}
    assert found["beyond the sum of both networks' own"] == pytest.approx(30)
    pytest.importorskip("matplotlib")
    assert [path.name for path in one.draw(measured, tmp_path) if path.suffix == ".png"] == [
        "fig6.png",
        "fig7.png",
    ]


def pingpong(key: str, microseconds: float) -> Run:
    return Run(key, 0, Task("pingpong", 8, 1), 1, (2e-6 * microseconds,))


def test_the_layer_and_the_locks_below_it():
    runs = [
        pingpong("isthmus", 21),
        pingpong("native-openmpi4.1-default", 20),
        pingpong("native-openmpi4.1-threads", 20.5),
    ]
    labels = {run.contestant: run.contestant for run in runs}
    found = values("madeleine-fig2-5", "p2p", Results(labels, runs))
    assert found["what the layer adds to 8 B"] == pytest.approx(1)
    assert found["synchronization, which the paper estimates"] == pytest.approx(0.5)


def test_latency_over_several_zippers(tmp_path: Path):
    measured = Measured()
    for name, latency in (("one", 30), ("two", 50), ("three", 80)):
        results = Results({"isthmus": "Isthmus"}, [pingpong("isthmus", latency)])
        measured.add(name, "p2p", results.as_json())
    one = recipe("treurniet-zippers")
    found = {claim.what: claim.here(measured) for claim in one.claims}
    assert found["latency of 8 B over two"] == pytest.approx(50)
    assert found["each further zipper node adds"] == pytest.approx(25)
    pytest.importorskip("matplotlib")
    assert [path.name for path in one.draw(measured, tmp_path)] == ["zippers.png", "zippers.svg"]


def test_the_processor_time_of_gateways():
    def run(key: str, rounds: int, processor: float) -> CostRun:
        return CostRun(key, 0, Task("pingpong", 8, rounds), 2.0 * rounds, processor, 1.0)

    runs = [
        *(run("isthmus", 10, 1), run("isthmus", 1010, 1.1)),
        *(run("isthmus-direct", 10, 1), run("isthmus-direct", 1010, 1.04)),
    ]
    labels = {run.contestant: run.contestant for run in runs}
    found = values("treurniet-forwarder", "cost", CostResults(labels, runs))
    assert found["8 B: both gateways, each message"] == pytest.approx(30)
    assert found["64 MiB: both gateways, each gigabyte"] is None


def test_how_tightly_a_barrier_synchronizes():
    task = CollTask("barrier", 0, 2)
    runs = [
        CollRun(key, 0, task, 4, (2e-3, 3e-3), (1e-3, 1e-3), firsts=(2e-3 - gap, 3e-3 - gap))
        for key, gap in (("isthmus", 5e-4), ("inside-das-openmpi4.1", 1e-4))
    ]
    labels = {run.contestant: run.contestant for run in runs}
    found = values("treurniet-fig7-17", "coll", CollResults(labels, runs))
    assert found["barrier: from the first rank's return to the last's"] == pytest.approx(0.5)
    assert found["the same of das's own MPI"] == pytest.approx(0.1)
    assert found["the same of lgm's own MPI"] is None


# -- a run ----------------------------------------------------------------------------------------

LATENCY = Recipe(
    "p-fig1",
    PAPER,
    "Figure 1",
    "a thing",
    {"": Measurement("p2p", ("--testbed", "x y"), ("--quick",))},
    (
        Claim(
            "one way", 70, lambda measured: 1e6 * measured.p2p().one_way("tcp", 8), "us", "at most"
        ),
        Claim("a curve", None, lambda found: found.p2p().paused("tcp", 8)),
    ),
    "A remark.",
)


def leaves(results: Results, status: int = 0):
    """A benchmark that leaves these results; the words it was called with are kept."""

    def run(words) -> int:
        run.words = list(words)
        Path(words[words.index("--json") + 1]).write_text(json.dumps(results.as_json()))
        return status

    return run


def test_a_run_tells_both_numbers(tmp_path: Path):
    results = Results({"tcp": "TCP"}, [Run("tcp", 0, Task("pingpong", 8, 1), 1, (100e-6,))])
    run, said = leaves(results, status=1), []
    outcome = play.play(LATENCY, True, tmp_path, said.append, run)
    assert run.words[:2] == ["p2p", "--quick"]
    assert run.words[-2:] == ["--figures", str(tmp_path / "p-fig1")]
    assert said == ["p-fig1: isthmus bench p2p --quick"]
    assert not outcome.failures
    assert not outcome.shown
    text = report.markdown(outcome, quick=False)
    assert "    isthmus bench p2p --testbed 'x y'\n" in text
    assert "| one way | 70 us | 50 us | reached |" in text
    assert "| a curve | no number | - | TCP: a message of 8 B after a pause not measured |" in text
    assert text.endswith("\n\nA remark.")


def test_a_benchmark_that_leaves_nothing_is_told():
    outcome = play.play(LATENCY, False, None, lambda _: None, lambda _: 2)
    assert outcome.failures == [
        "isthmus bench p2p --testbed x y ended with status 2, without results"
    ]
    assert [found.value for found in outcome.findings] == [None, None]


def test_a_contestant_that_failed_is_told():
    results = Results({"tcp": "TCP"}, [Run("tcp", 0, Task("pingpong", 8, 1), 1, (100e-6,))])
    results.failed.append("relay-ssh")
    recipe = replace(LATENCY, claims=(LATENCY.claims[0],))
    outcome = play.play(recipe, False, None, lambda _: None, leaves(results))
    assert outcome.failures == ["isthmus bench p2p --testbed x y: relay-ssh could not be measured"]
    assert not outcome.shown
    results.failed.clear()
    assert play.play(recipe, False, None, lambda _: None, leaves(results)).shown


def test_a_busy_machine_judges_no_claim():
    results = Results({"tcp": "TCP"}, [Run("tcp", 0, Task("pingpong", 8, 1), 1, (100e-6,))])
    recipe = replace(LATENCY, claims=(LATENCY.claims[0],))
    for used, shown, word in ((0.1, True, "reached"), (0.9, False, "not judged: busy machine")):
        results.machines[""] = Machine(used, used, 2)
        outcome = play.play(recipe, False, None, lambda _: None, leaves(results))
        assert outcome.shown == shown
        text = report.markdown(outcome, quick=False)
        assert f"| one way | 70 us | 50 us | {word} |" in text
        assert f"other programs used {used:.2f} of 2 cores" in text


@pytest.mark.parametrize(
    ("value", "noise", "well"),
    [(-3.8, 1, None), (5, 1, True), (14.5, 1, None), (15.5, 1, None), (17, 1, False)],
)
def test_noise_reaches_nothing(value, noise, well):
    """A layer that "costs" less than nothing shows only noise."""
    claim = Claim("cost", 15, lambda _: 0, "us", "at most", lambda _: 0)
    assert claim.well(value, noise) is well
    if well is None:
        assert play.Finding(claim, value, noise=noise).word == "not judged: noise of 1 us"


def test_the_noise_of_a_latency_is_its_difference_between_passes():
    runs = [
        Run("tcp", number, Task("pingpong", 8, 2), 1, (least, 100e-6))
        for number, least in enumerate((20e-6, 26e-6))
    ]
    assert Results({}, runs).spread("tcp", 8) == pytest.approx(3e-6)
    assert Results({}, runs[:1]).spread("tcp", 8) == pytest.approx(20e-6)


@pytest.mark.parametrize(("sense", "well"), [("at least", False), ("at most", True), ("", None)])
def test_a_claim_is_reached_on_its_side(sense, well):
    assert Claim("", 10, lambda _: 0, "", sense).well(9) is well


def test_numbers_are_drawn_beside(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from isthmus_lab.bench.papers import figures  # noqa: PLC0415

    outcome = play.Outcome(LATENCY, [play.Finding(LATENCY.claims[0], 50.0)])
    made = figures.beside(outcome, tmp_path / "new")
    assert [path.name for path in made] == [
        "p-fig1-beside-the-paper.png",
        "p-fig1-beside-the-paper.svg",
    ]
    assert all(path.stat().st_size > 1000 for path in made)
    assert figures.beside(play.Outcome(LATENCY), tmp_path) == []


# -- the command ----------------------------------------------------------------------------------


def test_the_command_lists_runs_and_ends(capsys, monkeypatch, tmp_path: Path):
    assert main(["bench", "papers", "--list", "matsuda-*"]) == 0
    assert re.findall(r"^  (\S+)", capsys.readouterr().out, re.MULTILINE) == [
        "matsuda-fig6",
        "matsuda-fig7",
        "matsuda-fig6-sim",
    ]
    assert main(["bench", "papers"]) == 2
    assert "--list" in capsys.readouterr().err
    asked: list[tuple[str, bool]] = []

    def played(one, quick, *_):
        asked.append((one.name, quick))
        return play.Outcome(one, failures=["nothing"] if one.name == "matsuda-fig7" else [])

    monkeypatch.setattr(command.play, "play", played)
    file = tmp_path / "found.json"
    assert main(["bench", "papers", "matsuda-fig6", "--quick"]) == 0
    assert main(["bench", "papers", "matsuda-fig?", "--json", str(file)]) == 1
    assert asked == [("matsuda-fig6", True), ("matsuda-fig6", False), ("matsuda-fig7", False)]
    names = [one["name"] for one in json.loads(file.read_text())["figures"]]
    assert names == ["matsuda-fig6", "matsuda-fig7"]
    assert main(["bench", "papers", "matsuda-fig6", "--json", str(tmp_path / "no" / "x")]) == 2


# -- the page -------------------------------------------------------------------------------------


def test_the_page_names_what_is_there():
    page = (ROOT / "docs/papers.md").read_text()
    names = {one.name for one in shelf.RECIPES}
    rows = re.findall(r"^\| ([A-Z]\d+) \| .* \| (\w+) \| (.*) \|$", page, re.MULTILINE)
    for row, state, where in rows:
        for name in re.findall(r"isthmus bench papers ([\w-]+)", where):
            assert name in names, row
        for path in re.findall(r"\b((?:docs|tests|src)/[\w./-]*\w)", where):
            assert (ROOT / path).exists(), row
        if state in ("partly", "no"):
            assert where, f"{row} says no reason"
    counts = Counter(state for _, state, _ in rows)
    told = ", ".join(f"{counts[state]} {state}" for state in ("yes", "otherwise", "partly", "no"))
    assert f"The papers have {len(rows)} items. Isthmus has them so: {told}." in page
