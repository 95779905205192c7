"""`isthmus bench coll`: tasks, figures and plans, without running anything."""

import pytest

from isthmus.bench import gridfile
from isthmus.bench.coll import plan, tasks
from isthmus.bench.coll.bounds import Wires, bound
from isthmus.bench.coll.contestants import Block, IsthmusWorld, blocks_word
from isthmus.bench.coll.results import CollResults, CollRun, run_from_json
from isthmus.bench.coll.tasks import KIB, MIB, CollTask, parse
from isthmus.bench.samples import NotMeasuredError
from isthmus.cli import main
from isthmus.errors import UsageError
from isthmus.grid import GatewaySpec
from isthmus.grid import parse as parse_grid

WIRES = Wires(bandwidth=12e6, delay=0.01)


def run(key: str, task: CollTask, *seconds: float, **more) -> CollRun:
    medians = more.pop("medians", tuple(value / 2 for value in seconds))
    return CollRun(key, 0, task, more.pop("ranks", 16), seconds, medians, **more)


def results(*runs: CollRun, **wires: Wires) -> CollResults:
    labels = dict.fromkeys(run.contestant for run in runs)
    return CollResults({key: key for key in labels}, list(runs), [], wires or {"": WIRES})


# -- tasks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task",
    [
        CollTask("barrier", 0, 5),
        CollTask("bcast", 8, 5),
        CollTask("reduce_scatter_block", 8, 5, interleaved=True),
        CollTask("ibcast", MIB, 2, tests=20),
        CollTask("iallreduce", MIB, 2, interleaved=True, tests=0),
    ],
)
def test_tasks_are_read_as_they_are_written(task):
    assert parse(task.text) == task


@pytest.mark.parametrize(
    "text", ["", "bcast", "bcast:8", "bcast:a:1", "bkast:8:1", "bcast@random:8:1", "bcast:8:1:1:1"]
)
def test_what_is_no_task(text):
    with pytest.raises(ValueError, match=r"no (task|collective)"):
        parse(text)


@pytest.mark.parametrize("collective", tasks.COLLECTIVES)
def test_sizes_suit_sums_of_doubles_and_memory(collective):
    sizes = tasks.sizes_of(collective)
    assert all(size % 8 == 0 for size in sizes)
    assert max(sizes) * (16 if collective in tasks.BLOCKS else 1) <= 32_000_000


# -- figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("collective", "size", "milliseconds"),
    [
        ("barrier", 0, 10),
        ("bcast", 12_000_000, 1010),
        ("allreduce", 12_000_000, 2010),
        ("alltoall", 12_000, 25),
        ("allgather", 12_000, 25),
    ],
)
def test_bounds(collective, size, milliseconds):
    assert bound(collective, size, 16, WIRES) == pytest.approx(milliseconds / 1e3)


def test_a_time_is_the_median_of_executions_of_all_passes():
    task = CollTask("bcast", 8, 2)
    found = results(run("x", task, 0.1, 0.4), run("x", task, 0.2), run("y", task, 9.0))
    assert found.time("x", "bcast", 8) == 0.2
    assert found.middle("x", "bcast", 8) == 0.1


def test_what_was_not_measured_is_told_by_its_name():
    found = results(run("x", CollTask("bcast", 8, 1), 0.1))
    with pytest.raises(NotMeasuredError, match="x: bcast of 16 B, interleaved, loss not measured"):
        found.time("x", "bcast", 16, interleaved=True, variant="loss")
    with pytest.raises(NotMeasuredError, match="what the wires carry"):
        found.bound("bcast", 8, variant="loss")


def test_overlap():
    task = CollTask("ibcast", 8, 1, tests=0)
    half = run("x", task, 1.0, computing=1.0, overlapped=(1.5,))
    assert results(half).overlap("x", "ibcast", 8) == pytest.approx(0.5)
    none = run("x", task, 1.0, computing=1.0, overlapped=(2.5,))
    assert results(none).overlap("x", "ibcast", 8) == 0
    with pytest.raises(NotMeasuredError):
        results(run("x", task, 1.0)).overlap("x", "ibcast", 8)


def test_bounds_of_non_blocking_forms():
    found = results(run("x", CollTask("ibcast", 8, 1), 0.1))
    assert found.bound("ibcast", 12_000_000) == pytest.approx(1.01)


def test_results_survive_json_and_get_their_variant():
    one = run("x", CollTask("ibcast", 8, 1, tests=3), 1.0, computing=1.0, overlapped=(1.5,))
    merged = CollResults()
    merged.merge(results(one).as_json(), "loss")
    assert merged.runs == [run_from_json({**one.as_json(), "variant": "loss"})]
    assert merged.wires == {"loss": WIRES}
    assert merged.time("x", "ibcast", 8, variant="loss") == 1.0


@pytest.mark.parametrize(
    "change",
    [{"seconds": []}, {"seconds": [0.0]}, {"medians": [1.0, 1.0]}, {"task": "bcast"}],
)
def test_nonsense_of_the_program_is_refused(change):
    good = run("x", CollTask("bcast", 8, 1), 1.0).as_json()
    with pytest.raises(ValueError, match=r"."):
        run_from_json({**good, **change})


# -- the plan -------------------------------------------------------------------------------------


def world(**more) -> IsthmusWorld:
    return IsthmusWorld("x", "x", None, (), **more)  # type: ignore[arg-type]


def test_what_is_asked_for_alone_is_measured():
    options = plan.Options(
        repetitions=5, passes=2, collectives=("barrier", "ib*"), sizes=(8, 64 * KIB)
    )
    made = plan.passes(world(), options)
    assert len(made) == 2
    assert [task.text for task in made[0]] == [
        "barrier:0:3",
        "ibarrier:0:3:0",
        "ibcast:8:3:0",
        "ibcast:65536:3:0",
    ]


def test_a_choice_of_algorithms_is_measured_by_its_collectives():
    options = plan.Options(sizes=(8,))
    made = plan.passes(world(collectives=frozenset({"bcast", "reduce"})), options)
    assert [task.collective for task in made[0]] == ["bcast", "reduce"]


def test_an_unknown_collective():
    with pytest.raises(UsageError, match="no collective is called so"):
        plan.passes(world(), plan.Options(collectives=("bkast",)))


def test_blocks():
    assert blocks_word([Block("a", 12, "p"), Block("b", 4, "p")]) == "blocks=12,4"


def test_gateways_on_nodes():
    grid = parse_grid('[cluster.a]\n[cluster.b]\n[[gateway]]\ncluster = "a"\n', "x")
    gateways = [GatewaySpec(cluster=c, host=f"{c}1", address="10.0.0.1") for c in "ab"]
    changed = gridfile.with_gateways(grid, gateways)
    assert changed.gateway == gateways
    assert changed.cluster == grid.cluster


# -- the command line -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--testbed", "matsudaa"], "did you mean 'matsuda'?"),
        (["--testbed", "matsuda", "-g", "x.toml"], "exclude each other"),
        (["--size", "12"], "must be a size"),
        (["--size", "12 B"], "multiples of 8"),
        (["-n", "1"], "-n"),
        (["--only", "nobody"], "nothing is left to measure"),
        (["--collective", "bkast"], "no collective is called so"),
    ],
)
def test_wrong_words_end_in_a_sentence(words, said, capsys):
    assert main(["bench", "coll", *words]) == 2
    assert said in capsys.readouterr().err
