"""`isthmus bench app`: programs, figures and plans, without starting any MPI."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from isthmus.base.errors import RunError, UsageError
from isthmus.cli.cli import main
from isthmus.grid.grid import parse as parse_grid
from isthmus.measuring.program import whole
from isthmus_lab.bench.app import figures, limits, play, programs
from isthmus_lab.bench.app.command import _delays
from isthmus_lab.bench.app.contestants import IsthmusApp, NativeApp, execute, hosts_of
from isthmus_lab.bench.app.layouts import HALF, ONE, QUARTER, SPLIT, Setup
from isthmus_lab.bench.app.options import Options
from isthmus_lab.bench.app.programs import Given, Where
from isthmus_lab.bench.app.results import AppResults, AppRun, Cell, run_from_json
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.bench.verdicts import Verdict, judge
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.lab.network import work_out
from isthmus_lab.measuring.place import loopback
from isthmus_lab.measuring.samples import NotMeasuredError

GRID = parse_grid("[cluster.a]\nslots = 16\n[cluster.b]\nslots = 8\n", "x")
MPI = Mpi("mpich5.0", "MPICH 5.0", "/opt/mpich", "mpich", "/opt/mpich/bin/mpicc")


def run(key: str, program: str, layout: str, n: int, seconds: float, variant: str = "") -> AppRun:
    return AppRun(key, 0, program, layout, n, n, seconds, seconds + 1, variant)


def results(*runs: AppRun) -> AppResults:
    return AppResults({run.contestant: run.contestant for run in runs}, list(runs))


# -- programs -------------------------------------------------------------------------------------


def test_kernels_and_their_classes():
    quick = programs.chosen(Options(quick=True))
    assert [one.name for one in quick][:2] == ["ep.A", "is.S"]
    assert len(quick) == 8
    large = programs.chosen(Options(kernels=("?g",), klass="B"))
    assert [one.name for one in large] == ["mg.B", "cg.B"]
    with pytest.raises(UsageError, match=r"unknown kernel; kernels are .ep"):
        programs.chosen(Options(kernels=("xx",)))


def test_sources_travel_as_one_file():
    text = whole(programs.KERNEL_FOLDER / "bt.c")
    assert text.count("#ifndef ISTHMUS_NAS_H") == text.count("#ifndef ISTHMUS_FLOW_H") == 1
    assert '#include "' not in text


def test_a_program_for_each_mpi():
    texts = ("openmpi=bin/{name}.{n}.ompi {class} 'a b'", "/opt/mpich=mp/{name}", "any --x=1")
    made = programs.chosen(Options(programs=texts, names=("lu", "sp"), klass="B"))
    assert [one.name for one in made] == ["lu", "sp"]
    where = Where(("openmpi4.1", "openmpi"), "mpicc")
    assert made[0].words(where, 16) == ["bin/lu.16.ompi", "B", "a b"]
    assert made[1].words(Where(("/opt/mpich", "mpich5.0"), "x"), 4) == ["mp/sp"]
    assert made[0].words(Where(("mpich4.0", "mpich"), "x"), 4) == ["any", "--x=1"]


def test_a_program_is_called_as_its_file():
    (one,) = programs.chosen(Options(programs=("openmpi=/a/solver.{n}.x",)))
    assert one.name == "solver"
    with pytest.raises(RunError, match=r"no --program is for mpich4\.0"):
        one.words(Where(("mpich4.0", "mpich"), "x"), 2)


def script(
    text: str, time: str | None = None, require: str | None = None
) -> tuple[list[str], Given]:
    return [sys.executable, "-c", text], Given("x", time, require, {}, "")


def test_the_time_is_that_which_the_program_says_last():
    command, program = script("print('took 5.5 s\\ntook 7.25 s')", "took ([0-9.]+)")
    assert execute(command, program, 60).seconds == 7.25


def test_without_an_expression_the_wall_counts():
    took = execute(*script("pass"), 60)
    assert took.seconds == took.wall > 0


@pytest.mark.parametrize(
    ("text", "time", "require", "said"),
    [
        ("print('nothing')", "took ([0-9.]+)", None, "its output has no time"),
        ("print('took x s')", "took (.+) s", None, "its output has no time"),
        ("print('took 1 s')", "took ([0-9.]+)", "^verified$", "its output lacks"),
        ("import sys; print('lost'); sys.exit(3)", None, None, "status 3\n  | lost"),
    ],
)
def test_executions_that_do_not_count(text, time, require, said):
    with pytest.raises(RunError) as error:
        execute(*script(text, time, require), 60)
    assert said in str(error.value)


def test_what_hangs_is_ended():
    with pytest.raises(RunError, match="was not done after 1 s"):
        execute(*script("import time; time.sleep(100)"), 1)


# -- contestants ----------------------------------------------------------------------------------


def test_commands(tmp_path: Path):
    program = Given("lu", None, None, {"": "./lu {n}"}, "")
    split = Setup(SPLIT, 5, (("east", 3), ("west", 2)))
    ours = IsthmusApp("isthmus", "x", loopback(), tmp_path / "g.toml", (MPI,))
    words = ours.command(program, split)[3:]
    assert words == (
        f"run -g {tmp_path}/g.toml --on east -n 3 ./lu 5 : --on west -n 2 ./lu 5".split()
    )
    _, model = testbeds.load("hablot16")
    network = work_out("hablot16", model)
    native = NativeApp("native", "x", network, MPI, {"A": "1"})
    words = native.command(program, Setup(SPLIT, 4, (("a", 2), ("b", 2))))[3:]
    assert " ".join(words) == (
        "lab mpirun --mpi /opt/mpich --hosts a1,a2,b1,b2 -n 4 env A=1 ./lu 4"
    )


def test_a_native_mpi_does_not_go_where_sites_are_not_joined():
    split, half = (Setup(SPLIT, 4, (("a", 2), ("b", 2))), Setup(HALF, 4, (("a", 2),)))
    ours = IsthmusApp("isthmus", "x", loopback(), Path(), ())
    native = NativeApp("native", "x", None, MPI, joined=False)  # type: ignore[arg-type]
    made = play.turns(
        programs.chosen(Options(kernels=("ep",))), [split, half], [ours, native], Options()
    )
    assert [(turn.setup.layout, turn.contestant.key) for turn in made] == [
        (SPLIT, "isthmus"), (HALF, "isthmus"), (HALF, "native"),
    ]  # fmt: skip


def test_nodes_of_several_slots():
    _, model = testbeds.load("hablot16")
    site = model.site["a"].model_copy(update={"slots": 4})
    network = work_out("x", model.model_copy(update={"site": {**model.site, "a": site}}))
    assert hosts_of(network, (("a", 6), ("b", 1))) == ["a1", "a2", "b1"]


def test_a_quick_run_measures_what_the_limits_need():
    ours = IsthmusApp("isthmus-direct", "x", loopback(), Path(), ())
    native = NativeApp("native-mpich5.0-default", "x", None, MPI)  # type: ignore[arg-type]
    options = Options(quick=True)
    made = play.turns(programs.chosen(options), play.setups(GRID, options), [ours, native], options)
    found = AppResults()
    for turn in made:
        key, one = turn.contestant.key, turn.setup
        found.labels[key] = key
        found.runs.append(run(key, turn.program.name, one.layout, one.n, 1.0))
    assert {r.layout for r in found.runs if r.contestant != "isthmus-direct"} == {SPLIT}
    verdicts = judge(limits.LIMITS, found)
    assert len(verdicts) == 1 + 3 * len(programs.KERNELS)
    assert [verdict.note for verdict in verdicts if verdict.value is None] == []


def test_a_program_that_fails_lets_the_others_go_on(tmp_path: Path, monkeypatch):
    class Fake:
        key = label = "fake"

        def plays(self, one):
            return True

        def command(self, program, one):
            text = "raise SystemExit(program == 'bad')".replace("program", repr(program.name))
            return [sys.executable, "-c", text]

    made = [Given(name, None, None, {}, "") for name in ("bad", "good")]
    one = Setup(SPLIT, 2, (("a", 1), ("b", 1)))
    options = Options(repetitions=4)
    found, said = AppResults(), []
    play.play(play.turns(made, [one], [Fake()], options), options, found, said.append)
    assert [run.program for run in found.runs] == ["good"] * 4
    assert len(found.failures) == 2  # and no more of them
    assert found.failed == ["fake"]
    assert "bad, split of 2: fake: ended with status 1" in found.failures[0]
    late = AppResults()
    play.play(play.turns(made, [one], [Fake()], options), options, late, said.append, deadline=0)
    assert late.runs == []
    assert "time was up before its turn" in late.failures[0]


# -- figures --------------------------------------------------------------------------------------


def test_runs_are_read_as_they_are_written():
    one = run("isthmus", "ep.S", SPLIT, 8, 1.5)
    assert run_from_json(one.as_json()) == one
    for key, value in (("layout", "round"), ("seconds", 0), ("wall", -1)):
        with pytest.raises(ValueError, match=r"not a layout|not positive"):
            run_from_json({**one.as_json(), key: value})


def test_the_best_counts_and_the_median_stands_beside():
    found = results(*(run("x", "ep.S", SPLIT, 8, seconds) for seconds in (3.0, 1.0, 2.5)))
    cell = Cell("ep.S", 8, SPLIT)
    assert (found.best("x", cell), found.median("x", cell)) == (1.0, 2.5)
    with pytest.raises(NotMeasuredError, match=r"x: ep\.S, one-site of 8 not measured"):
        found.best("x", replace(cell, layout=ONE))


def test_gains():
    found = results(run("x", "ep.S", SPLIT, 8, 2.0), run("x", "ep.S", QUARTER, 8, 6.0))
    assert found.gain("x", "ep.S", 8, QUARTER) == 3.0
    with pytest.raises(NotMeasuredError):
        found.gain("x", "ep.S", 8, ONE)


def test_merged_delays():
    found = AppResults()
    for delay in ("0 ms", "20 ms"):
        found.merge(results(run("x", "ep.S", SPLIT, 8, 2.0)).as_json(), f"delay {delay}")
    assert found.variants() == ["delay 0 ms", "delay 20 ms"]
    assert [str(cell) for cell in found.cells("delay 20 ms")] == ["ep.S, split of 8, delay 20 ms"]


def judged(name: str, found: AppResults) -> Verdict:
    (limit,) = [limit for limit in limits.LIMITS if limit.name == name]
    return judge([limit], found)[0]


def test_limits():
    found = results(
        run("isthmus-direct", "is.S", SPLIT, 8, 1.5),
        run("isthmus-direct/mpich4.0", "is.S", SPLIT, 8, 1.01),
        run("native-a-tuned", "is.S", SPLIT, 8, 1.0),
        run("native-b-default", "is.S", SPLIT, 8, 2.0),
    )
    verdict = judged("IS: split over the best native", found)
    assert verdict.value == pytest.approx(1.01)
    assert verdict.well
    assert verdict.note == "isthmus-direct/mpich4.0 over native-a-tuned"
    found = results(*found.runs, run("isthmus-direct-plain/a", "is.S", SPLIT, 8, 1.04))
    verdict = judged("IS: split over the best native", found)  # natives do not encrypt, either
    assert not verdict.well
    assert verdict.note == "isthmus-direct-plain/a over native-a-tuned"
    assert judged("EP: speed of split over one site", found).value is None
    slow = results(
        run("isthmus-direct", "ep.A", SPLIT, 8, 1.03), run("isthmus-direct", "ep.A", ONE, 8, 1.0)
    )
    assert not judged("EP: speed of split over one site", slow).well


def test_a_limit_grants_what_crossing_takes():
    crossings = 10 * 3 * 5.8e-3
    for split, well in ((1.2, True), (1.3, False)):
        found = results(
            run("isthmus-direct", "is.S", SPLIT, 8, split * (0.1 + crossings)),
            run("isthmus-direct", "is.S", ONE, 8, 0.1),
        )
        verdict = judged("IS: split over one-site and its crossings", found)
        assert verdict.value == pytest.approx(split)
        assert verdict.well == well


def test_pictures(tmp_path: Path):
    pytest.importorskip("matplotlib")
    runs = [
        run(key, program, layout, n, seconds, f"delay {delay} ms")
        for key, seconds in (("isthmus-direct", 1.0), ("native-a-default", 2.0))
        for program in ("ep.S", "lu.S")
        for layout in (ONE, SPLIT)
        for n in (4, 8)
        for delay in (0, 20)
    ]
    paths = figures.app(results(*runs), "hablot16", tmp_path / "f")
    names = {path.name for path in paths if path.suffix == ".png"}
    assert {
        "hablot16-delay-0-ms-4-contestants.png", "hablot16-delay-20-ms-8-one-site.png",
        "hablot16-delay-0-ms-lu.S-speed-up.png", "hablot16-isthmus-direct-8-delay.png",
    } <= names  # fmt: skip
    assert not any("quarter" in name for name in names)
    assert all(path.stat().st_size > 1000 for path in paths)


# -- the command line -----------------------------------------------------------------------------


def test_delays():
    assert _delays("0,1.5,20ms") == ["0 ms", "1.5 ms", "20 ms"]
    assert _delays(None) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--testbed", "hablot17"], "did you mean 'hablot16'?"),
        (["--testbed", "hablot16", "-g", "x.toml"], "exclude each other"),
        (["--delay", "1ms"], "--delay needs --testbed"),
        (
            ["--testbed", "hablot16", "--delay", "0,5"],
            "--delay 0,5: not a list of numbers with one unit",
        ),
        (["--testbed", "hablot16", "--delay", "5ms,5ms"], "--delay 5ms,5ms: not a list of numbers"),
        (
            ["--program", "x=y"],
            "--program x=y: there is no MPI or cluster 'x'; known are 'east', '",
        ),
        (["--program", "wets=y"], "there is no MPI or cluster 'wets'; did you mean 'west'?"),
        (["--class", "X"], "--class X: classes are"),
        (["--kernel", "xx"], "unknown kernel"),
        (["--layout", "spilt"], "did you mean 'split'?"),
        (["-n", "4,x"], "-n 4,x: must be numbers"),
        (["-n", "1"], "-n 1: must be numbers"),
        (["--time", "(x)"], "--time needs --program"),
        (["--require", "x"], "--require needs --program"),
        (["--name", "x"], "--name needs --program"),
        (["--program", "x", "--kernel", "ep"], "exclude each other"),
        (["--program", "x", "--time", "x"], "no group for the seconds"),
        (["--program", "x", "--time", "(x"], "not a regular expression"),
        (["--program", "x {y}"], "not a valid command"),
        (["--program", "a=x", "--program", "a=y"], "another --program is for a"),
        (["--site", "north"], "the grid has no such cluster"),
        (["--only", "nobody"], "unknown contestant; contestants are '"),
    ],
)
def test_wrong_words_end_in_a_sentence(words, said, capsys):
    assert main(["bench", "app", *words]) == 2
    assert said in capsys.readouterr().err
