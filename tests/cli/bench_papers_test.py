"""`isthmus bench papers`: the shelf, what is read off results, and the page."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import typer

from isthmus.base.errors import UsageError
from isthmus.measuring.runs import Run
from isthmus.measuring.tasks import MIB, Task
from isthmus_lab.bench import figures as p2p_figures
from isthmus_lab.bench.app.layouts import ONE, QUARTER, SPLIT
from isthmus_lab.bench.app.results import AppRun
from isthmus_lab.bench.coll.results import CollRun
from isthmus_lab.bench.coll.tasks import CollTask
from isthmus_lab.bench.commands import bench_app
from isthmus_lab.bench.cost.results import CostRun
from isthmus_lab.bench.papers import play, shelf
from isthmus_lab.bench.papers.recipe import RESULTS, Measured
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import NotMeasuredError

ROOT = Path(__file__).parents[2]


def recipe(name: str):
    (found,) = shelf.chosen([name])
    return found


def results(kind: str, runs) -> dict:
    """As a benchmark of this kind leaves them."""
    found = RESULTS[kind]({run.contestant: run.contestant for run in runs}, runs)
    return json.loads(json.dumps(found.as_json()))


def values(name: str, kind: str, runs) -> dict[str, float | None]:
    """The verdict of a recipe whose one benchmark has left these results."""
    measured = Measured()
    measured.add("", kind, results(kind, runs))
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
    found = values("hablot-table4", "p2p", runs)
    assert found["TCP, one way"] == pytest.approx(5800)
    assert found["MPICH2 adds; here Isthmus, direct"] == pytest.approx(5)
    assert found["MPICH-Madeleine adds; here Isthmus, two gateways"] is None
    assert found["in one cluster: TCP, one way"] is None


def test_ways_through_a_gateway(tmp_path: Path):
    runs = [
        Run("isthmus", 0, Task(way, size, 1), 1, (seconds, 2 * seconds))
        for way, size, seconds in (("there", 8, 50e-6), ("back", 8, 60e-6), ("there", MIB, 0.04))
    ]
    found = values("madeleine-ways", "p2p", runs)
    assert found["8 B one way, from the faster network"] == pytest.approx(50)
    assert found["8 B: the slower way over the quicker one"] == pytest.approx(1.2)
    assert found["1 MiB: the same"] is None
    pytest.importorskip("matplotlib")
    measured = Measured()
    measured.add("", "p2p", results("p2p", runs))
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
    found = values("hablot-fig6-7", "app", [*runs, *chance])
    assert found["kernels that lose less than 20 % (Figure 6)"] is None  # MG gains: noise
    found = values("hablot-fig6-7", "app", runs)
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
    found = values("hablot-fig5", "app", runs)
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
    found = values("hablot-applications", "app", runs)
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
    found = values("treurniet-others", "p2p", measured)
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
    found = values("matsuda-fig6", "coll", runs)
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
    found = values("treurniet-others", "p2p", runs)
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
        measured.add(name, "p2p", results("p2p", runs))
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
    found = values("madeleine-fig2-5", "p2p", runs)
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
    found = values("treurniet-forwarder", "cost", runs)
    assert found["8 B: both gateways, each message"] == pytest.approx(30)
    assert found["64 MiB: both gateways, each gigabyte"] is None


def test_how_tightly_a_barrier_synchronizes():
    task = CollTask("barrier", 0, 2)
    runs = [
        CollRun(key, 0, task, 4, (2e-3, 3e-3), (1e-3, 1e-3), firsts=(2e-3 - gap, 3e-3 - gap))
        for key, gap in (("isthmus", 5e-4), ("inside-das-openmpi4.1", 1e-4))
    ]
    found = values("treurniet-fig7-17", "coll", runs)
    assert found["barrier: from the first rank's return to the last's"] == pytest.approx(0.5)
    assert found["the same of das's own MPI"] == pytest.approx(0.1)
    assert found["the same of lgm's own MPI"] is None


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
