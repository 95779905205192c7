"""`isthmus bench coll`: tasks, figures and plans, without running anything."""

from pathlib import Path

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main
from isthmus.grid.grid import GatewaySpec
from isthmus.grid.grid import parse as parse_grid
from isthmus_lab.bench import gridfile
from isthmus_lab.bench.coll import figures, plan, roster, tasks, variants
from isthmus_lab.bench.coll.bounds import Wires, bound
from isthmus_lab.bench.coll.contestants import Block, IsthmusWorld, NativeWorld, blocks_word
from isthmus_lab.bench.coll.limits import LIMITS
from isthmus_lab.bench.coll.options import Options
from isthmus_lab.bench.coll.peers import settings
from isthmus_lab.bench.coll.results import CollResults, CollRun, run_from_json
from isthmus_lab.bench.coll.tasks import KIB, MIB, CollTask, parse
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.bench.verdicts import Verdict, judge
from isthmus_lab.measuring.machine import Machine
from isthmus_lab.measuring.place import loopback
from isthmus_lab.measuring.samples import NotMeasuredError
from isthmus_lab.measuring.traffic import Crossed

WIRES = Wires(bandwidth=12e6, delay=0.01)


def run(key: str, task: CollTask, *seconds: float, **more) -> CollRun:
    medians = more.pop("medians", tuple(value / 2 for value in seconds))
    return CollRun(key, 0, task, more.pop("ranks", 16), seconds, medians, **more)


def results(*runs: CollRun, **wires: Wires) -> CollResults:
    labels = dict.fromkeys(run.contestant for run in runs)
    return CollResults({key: key for key in labels}, list(runs), [], wires or {"": WIRES})


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
    with pytest.raises(ValueError, match=r"not a (task|collective)"):
        parse(text)


@pytest.mark.parametrize("collective", tasks.COLLECTIVES)
def test_sizes_suit_sums_of_doubles_and_memory(collective):
    sizes = tasks.sizes_of(collective)
    assert all(size % 8 == 0 for size in sizes)
    assert max(sizes) * (16 if collective in tasks.BLOCKS else 1) <= 32_000_000


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
    with pytest.raises(NotMeasuredError, match="the wires were not measured"):
        found.bound("bcast", 8, variant="loss")


def test_overlap():
    task = CollTask("ibcast", 8, 1, tests=0)
    half = run("x", task, 1.0, computing=1.0, overlapped=(1.5,))
    assert results(half).overlap("x", "ibcast", 8) == pytest.approx(0.5)
    assert results(half).overlaps() == [("ibcast", 8, 0)]
    none = run("x", task, 1.0, computing=1.0, overlapped=(2.5,))
    assert results(none).overlap("x", "ibcast", 8) == 0
    with pytest.raises(NotMeasuredError):
        results(run("x", task, 1.0)).overlap("x", "ibcast", 8)


def test_legends_name_the_algorithm_of_the_collective():
    label = "van de Geijn / Rabenseifner over the WAN, n = 8"
    assert roster.label_in(label, "bcast") == "van de Geijn over the WAN, n = 8"
    assert roster.label_in(label, "allreduce") == "Rabenseifner over the WAN, n = 8"
    assert roster.label_in("farfirst / two-tier", "allreduce") == "two-tier"
    assert roster.label_in("Isthmus, direct", "bcast") == "Isthmus, direct"
    assert roster.label_in(label, "barrier") == label


def test_resent_segments_of_all_variants_count():
    merged, found = CollResults(), results(run("x", CollTask("bcast", 8, 1), 0.1))
    with pytest.raises(NotMeasuredError, match="were not asked"):
        found.sent_again("x")
    found.traffic.append(Crossed("x", 0, "a>b", ((0, 1500, 0),)))
    found.resent["x"] = 3
    merged.merge(found.as_json(), "one")
    merged.merge(found.as_json(), "two")
    assert merged.sent_again("x") == 6


def test_bounds_of_non_blocking_forms():
    found = results(run("x", CollTask("ibcast", 8, 1), 0.1))
    assert found.bound("ibcast", 12_000_000) == pytest.approx(1.01)


def test_results_survive_json_and_get_their_variant():
    one = run("x", CollTask("ibcast", 8, 1, tests=3), 1.0, computing=1.0, overlapped=(1.5,))
    merged, found = CollResults(), results(one)
    found.machines[""] = Machine(used=0.3, most=1.5, cores=2, late=0.001)
    merged.merge(found.as_json(), "loss")
    assert merged.machines == {"loss": Machine(used=0.3, most=1.5, cores=2, late=0.001)}
    assert merged.busy
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


def world(**more) -> IsthmusWorld:
    return IsthmusWorld("x", "x", None, (), **more)  # type: ignore[arg-type]


def test_what_is_asked_for_alone_is_measured():
    options = Options(repetitions=5, passes=2, collectives=("barrier", "ib*"), sizes=(8, 64 * KIB))
    made = plan.passes(world(), options)
    assert len(made) == 2
    assert [task.text for task in made[0]] == [
        "barrier:0:3",
        "ibarrier:0:3:0",
        "ibarrier:0:3:50",
        "ibcast:8:3:0",
        "ibcast:8:3:50",
        "ibcast:65536:3:0",
        "ibcast:65536:3:50",
    ]


def test_a_choice_of_algorithms_is_measured_by_its_collectives():
    options = Options(sizes=(8,))
    made = plan.passes(world(collectives=frozenset({"bcast", "reduce"})), options)
    assert [task.collective for task in made[0]] == ["bcast", "reduce"]


def test_an_unknown_collective():
    with pytest.raises(UsageError, match="unknown; collectives are"):
        plan.passes(world(), Options(collectives=("bkast",)))


def test_choices_of_scatter_are_measured_by_all_its_forms():
    made = plan.passes(world(collectives=frozenset({"reduce_scatter"})), Options(sizes=(8,)))
    assert [task.collective for task in made[0]] == ["reduce_scatter_block", "reduce_scatter"]


def test_interleaved_ranks_are_measured_besides():
    made = plan.passes(world(), Options(collectives=("bcast",), sizes=(8,), interleaved=True))
    assert [task.interleaved for task in made[0]] == [False, True]


def test_without_a_choice_bcast_and_allreduce_are_interleaved_too():
    made = plan.passes(world(), Options())
    mixed = {task.collective for task in made[0] if task.interleaved}
    assert mixed == {"bcast", "allreduce"}


def native(key: str, setting: str) -> NativeWorld:
    mpi = Mpi(key, key, key, "openmpi" if "openmpi" in key else "mpich", "mpicc")
    found = {one.name: one for one in settings(mpi)}
    return NativeWorld(f"native-{key}-{setting}", key, mpi, "p", (), found[setting])


def test_a_quick_run_measures_what_the_limits_need():
    """Judged by a world where everything takes as long as the wires need."""
    made = CollResults(wires={"": WIRES, variants.LOSSY: WIRES})
    contestants = [
        *(IsthmusWorld(key, key, None, (), choices=text)  # type: ignore[arg-type]
          for key, text in [("isthmus-direct", ""), (roster.paper(roster.OLDER), "x"),
                            *((roster.paper(f"senders={n}"), "x") for n in roster.SENDERS)]),
        native("openmpi4.1", "default"), native("mpich5.0", "forced"),
    ]  # fmt: skip
    for variant in ("", variants.LOSSY):
        for one in contestants:
            made.labels[one.key] = one.label
            for tasks_ in plan.passes(one, Options(quick=True, variant=variant)):
                for task in tasks_:
                    time = bound(task.blocking, task.bytes, 16, WIRES)
                    made.runs.append(run(one.key, task, time, variant=variant))
    verdicts = judge(LIMITS, made)
    assert len(verdicts) == len(LIMITS) == 15
    assert [verdict.note for verdict in verdicts if not verdict.well] == []


@pytest.mark.parametrize("key", ["openmpi4.1", "openmpi5.0", "mpich4.0", "mpich5.0"])
def test_forced_algorithms_are_measured_by_their_collectives(key):
    made = plan.passes(native(key, "forced"), Options(sizes=(8,)))
    assert {"bcast", "allreduce", "allgather"} <= {task.collective for task in made[0]}
    assert "scan" not in {task.collective for task in made[0]}


def test_variants_of_a_testbed():
    assert variants.of_testbed("hablot", False, ()) == [("", [])]
    quick = variants.of_testbed("matsuda", True, ())
    assert quick == [("", []), (variants.LOSSY, ["--set", "wan.loss=0.05%"])]
    assert len(variants.of_testbed("matsuda", False, ())) > 2
    assert variants.of_testbed("matsuda", True, ("plain",)) == [("", [])]
    with pytest.raises(UsageError, match=r"'plain', '0\.05 % loss'"):
        variants.of_testbed("matsuda", False, ("los",))


def judged(name: str, found: CollResults) -> Verdict:
    (limit,) = [limit for limit in LIMITS if limit.name == name]
    return judge([limit], found)[0]


def test_the_worst_size_counts():
    bounds = {size: bound("bcast", size, 16, WIRES) for size in plan.LARGE}
    runs = [run("isthmus-direct", CollTask("bcast", size, 1), t) for size, t in bounds.items()]
    assert judged("1 to 32 MB bcast over its bound", results(*runs)).well
    slow = run("isthmus-direct", CollTask("bcast", MIB, 1), 1.2 * bounds[MIB])
    verdict = judged("1 to 32 MB bcast over its bound", results(slow, *runs[1:]))
    assert verdict.value == pytest.approx(1.2)
    assert "1 MiB: 1.200" in verdict.note
    assert not judged("1 to 32 MB bcast over its bound", results(*runs[1:])).well


def test_peers_with_whatever_setting():
    task = CollTask("bcast", 8, 1)
    found = results(
        run("isthmus-direct", task, 0.1), run("native-a", task, 0.2), run("native-b", task, 0.08)
    )
    verdict = judged("any collective over the best native one", found)
    assert verdict.value == pytest.approx(1.25)
    assert "bcast 8 B, isthmus-direct over native-b" in verdict.note
    found = results(*found.runs, run("isthmus-direct-plain", task, 0.12))
    verdict = judged("any collective over the best native one", found)  # natives do not encrypt
    assert verdict.value == pytest.approx(1.5)
    assert judged("any collective over the best native one", results()).value is None


def test_the_papers_gains_have_to_grow():
    times = {"two-level": 3.0, "senders=1": 3.0, "senders=2": 2.5, "senders=4": 2.2}
    runs = [
        run(roster.paper(name), CollTask("bcast", 32_000_000, 1), time)
        for name, time in times.items()
    ]
    eight = [run(roster.paper("senders=8"), CollTask("bcast", 32_000_000, 1), t) for t in (2, 2.3)]
    name = "32 MB bcast of the paper: twice the senders over once"
    verdict = judged(name, results(*runs, eight[0]))
    assert verdict.well
    assert "8: 1.50" in verdict.note
    assert not judged(name, results(*runs, eight[1])).well


def test_beyond_the_delay():
    tasks_ = [CollTask("barrier", 0, 1), CollTask("bcast", 8, 1), CollTask("allreduce", 8, 1)]
    runs = [run("isthmus-direct", task, 0.0105) for task in tasks_]
    verdict = judged("8 B barrier, bcast, allreduce beyond the delay", results(*runs))
    assert verdict.value == pytest.approx(0.5)
    slow = run("isthmus-direct", tasks_[2], 0.0115)
    assert not judged(
        "8 B barrier, bcast, allreduce beyond the delay", results(*runs[:2], slow)
    ).well


def test_blocks():
    assert blocks_word([Block("a", 12, "p"), Block("b", 4, "p")]) == "blocks=12,4"


def test_gateways_on_nodes():
    grid = parse_grid('[cluster.a]\n[cluster.b]\n[[gateway]]\ncluster = "a"\n', "x")
    gateways = [
        GatewaySpec.model_validate({"cluster": c, "host": f"{c}1", "address": "10.0.0.1"})
        for c in "ab"
    ]
    changed = gridfile.with_gateways(grid, gateways)
    assert changed.gateway == gateways
    assert changed.cluster == grid.cluster


def test_figures(tmp_path: Path):
    pytest.importorskip("matplotlib")
    runs = [
        run(key, CollTask(collective, size, 1), 0.1 + size / rate)
        for key, rate in (("isthmus-direct", 2e6), ("native-a", 1e6), (roster.paper("flat"), 5e5))
        for collective in ("bcast", "gather")
        for size in (8, MIB, 32_000_000)
    ]
    runs.append(run("isthmus-direct", CollTask("barrier", 0, 1), 0.1))
    paths = figures.coll(results(*runs), "matsuda", tmp_path / "f")
    names = sorted(path.name for path in paths if path.suffix == ".png")
    assert names == [
        "matsuda-bcast-throughput.png", "matsuda-bcast.png", "matsuda-gather.png",
    ]  # fmt: skip
    assert all(path.stat().st_size > 1000 for path in paths)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--testbed", "matsudaa"], "did you mean 'matsuda'?"),
        (["--testbed", "matsuda", "-g", "x.toml"], "exclude each other"),
        (["--size", "12"], "must be a size"),
        (["--size", "12 B"], "multiples of 8"),
        (["-n", "1"], "-n"),
        (["-n", "2,1"], "-n 2,1"),
        (["-n", "x"], "-n x"),
        (["-n", "2,4", "--quick"], "-n 2,4"),
        (["--equally"], "--equally needs -n"),
        (["--variant", "plain"], "--variant needs --testbed"),
        (["--only", "nobody"], "unknown contestant; contestants are '"),
        (["--collective", "bkast"], "unknown; collectives are"),
    ],
)
def test_wrong_words_end_in_a_sentence(words, said, capsys):
    assert main(["bench", "coll", *words]) == 2
    assert said in capsys.readouterr().err


def test_numbers_of_ranks_are_variants():
    assert variants.of_ranks("", 4) == "4 ranks"
    assert variants.of_ranks("0.05 % loss", 8) == "0.05 % loss, 8 ranks"
    assert variants.ranks_of("0.05 % loss, 8 ranks") == ("0.05 % loss", 8)
    assert variants.ranks_of("4 ranks") == ("", 4)
    assert variants.ranks_of("12 + 4 nodes") is None
    assert variants.ranks_of("") is None


def test_ranks_are_shared_out_equally():
    place = loopback()
    parts = roster._parts(place, Options(n=6, equally=True))
    assert [(part.on, part.n) for part in parts] == [("east", 3), ("west", 3)]
    (part,) = roster._parts(place, Options(n=6))
    assert (part.on, part.n) == (None, 6)
    with pytest.raises(UsageError, match="-n 5 --equally: 2 clusters cannot have equal numbers"):
        roster._parts(place, Options(n=5, equally=True))


def test_times_are_drawn_over_the_number_of_ranks(tmp_path: Path):
    pytest.importorskip("matplotlib")
    runs = [
        run("isthmus", task, 1e-3, ranks=ranks, variant=variants.of_ranks("", ranks))
        for ranks in (2, 4)
        for task in (CollTask("barrier", 0, 1), CollTask("bcast", 8, 1))
    ]
    names = {path.name for path in figures.coll(results(*runs), "zipper", tmp_path)}
    assert {"barrier-on-zipper-over-ranks.png", "bcast-of-8-B-on-zipper-over-ranks.svg"} <= names
