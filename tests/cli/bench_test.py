"""`isthmus bench`: its command line, the programs that it runs, and its exit status."""

import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from running import shell_script
from waiting import eventually

from isthmus.base.errors import RunError
from isthmus.cli.cli import main
from isthmus.grid import grid as grids
from isthmus.grid import gridwriting
from isthmus.measuring import program
from isthmus.measuring.process import BrokenOffError, measure
from isthmus.measuring.runs import Run, run_from_json
from isthmus.measuring.tasks import FIGURES, LATENCY_BYTES, Task
from isthmus_lab.bench import gridfile, labs, p2p
from isthmus_lab.bench.wanted import Wanted
from isthmus_lab.measuring import machine, place

# -- the command line -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--testbed", "hablott"], "did you mean 'hablot'?"),
        (["--testbed", "hablot", "-g", "x.toml"], "exclude each other"),
        (["--between", "a,b"], "--between needs -g or --testbed"),
        (["--testbed", "chain", "--between", "a,b", "--within", "a"], "exclude each other"),
        (["-g", "/no/such/grid.toml"], "cannot read the grid file"),
        (["--rounds", "0"], "--rounds"),
        (["--passes", "none"], "--passes"),
        (["--native", "/no/such/prefix"], "--native /no/such/prefix"),
        (["--only", "nobody"], "unknown contestant; contestants are '"),
        (["--size", "0 B"], "messages have 1 B to 64 MiB"),
        (["--size", "8"], "--size 8: must be a size such as"),
        (["--figure", "pingpnog"], "did you mean 'pingpong'?"),
        (["--figure", "paused", "--only", "tcp"], "nothing to measure"),
        (["--quick", "--size", "8 B"], "--quick excludes"),
        (["--quick", "--within", "a"], "--quick excludes"),
        (["--within", "a"], "--within needs a lab"),
        (["--within", "a", "-g", "x.toml"], "--within needs a lab"),
        (["--testbed", "hablot", "--within", "c"], "hablot has no such site; it has 'a', 'b'"),
        (["--set", "wan.delay=none"], "--set needs --testbed"),
    ],
)
def test_wrong_words_end_in_a_sentence(words, said, capsys):
    assert main(["bench", "p2p", *words]) == 2
    assert said in capsys.readouterr().err


def test_clusters_that_are_not_in_the_grid(grid_with, capsys):
    file = grid_with("[cluster.lyon]\n[cluster.tsukuba]\n")
    assert main(["bench", "p2p", "-g", str(file), "--between", "lyon,tsukubo"]) == 2
    assert "did you mean 'tsukuba'?" in capsys.readouterr().err
    file.write_text("[cluster.lyon]\n")
    assert main(["bench", "p2p", "-g", str(file)]) == 2
    assert "two clusters are needed" in capsys.readouterr().err


def test_figures_without_matplotlib(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["bench", "p2p", "--figures", str(tmp_path / "f")]) == 2
    assert "needs matplotlib" in capsys.readouterr().err


def narrowed(**chosen) -> set[str]:
    """The tasks of one pass."""
    options = p2p.Options(rounds=10, passes=5, **chosen)
    mpi = Fake("isthmus", 1e-6)
    mpi.figures = frozenset(FIGURES)
    tasks, *others = p2p._passes(place.loopback(), mpi, options)
    assert others == [tasks] * 4
    return {task.text for task in tasks}


def test_sizes_and_figures_narrow_what_is_measured():
    assert narrowed(sizes=(8, 3000)) == {"pingpong:8:2", "pingpong:3000:2"}
    assert narrowed(figures=("rate",)) == {"rate:8:2:1"}
    assert narrowed(sizes=(8,), figures=("pingpong", "stream")) == {
        "pingpong:8:2",
        "stream:1048576:2:3",
    }
    paused = narrowed(figures=("paused",))  # with what it is compared to
    assert {text.split(":")[0] for text in paused} == {"paused", "pingpong"}
    assert len(paused) == 4


def test_a_pair_inside_a_cluster_has_another_beside_it():
    both = place.loopback()
    assert [(end.cluster, n) for end, n in both.parts] == [("east", 1), ("west", 1)]
    near, far = both.ends
    inside = place.Place("x", both.grid, (near, near), beside=far)
    assert [(end.cluster, n) for end, n in inside.parts] == [("east", 2), ("west", 1)]


# -- the exit status ------------------------------------------------------------------------------


class Fake:
    """A contestant with an 8 B latency of its own."""

    figures = frozenset({"pingpong"})
    ceiling = None

    def __init__(self, key: str, one_way: float | None) -> None:
        self.key = self.label = key
        self._one_way = one_way

    def measure(self, tasks, number):
        if self._one_way is None:
            raise RunError("it broke")
        return [
            Run(self.key, number, task, 1, (2 * self._one_way,))
            for task in tasks
            if task.bytes == LATENCY_BYTES
        ]


@pytest.fixture
def contest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs `isthmus bench p2p --testbed loopback --quick` with such contestants, on a machine of
    which others use this number of cores."""

    def run(*contestants: Fake, used: float = 0.0) -> tuple[int, dict]:
        monkeypatch.setattr(machine, "used_cores", lambda _: used)
        monkeypatch.setattr(p2p, "contestants", lambda *_: list(contestants))
        file = tmp_path / "out.json"
        words = ["bench", "p2p", "--testbed", "loopback", "--quick", "--json", str(file)]
        return main(words), json.loads(file.read_text())

    return run


GOOD = [Fake("tcp", 20e-6), Fake("isthmus", 28e-6), Fake("isthmus-direct", 25e-6)]


def test_all_limits_reached(contest):
    status, data = contest(*GOOD)
    assert status == 0, data["limits"]
    assert all(limit["well"] for limit in data["limits"])
    assert {run["contestant"] for run in data["runs"]} == {c.key for c in GOOD}


def test_a_busy_machine_judges_nothing(contest, capsys):
    status, data = contest(*GOOD, used=0.6)
    assert status == 1
    assert [limit["well"] for limit in data["limits"]] == [False, False]
    assert all(limit["refused"] for limit in data["limits"])
    said = capsys.readouterr().out
    assert "not judged: busy machine" in said
    assert "other programs used 0.60 of" in " ".join(said.split())


def test_one_that_falls_short(contest):
    status, data = contest(GOOD[0], Fake("isthmus", 70e-6), GOOD[2])
    assert status == 1
    assert [limit["well"] for limit in data["limits"]] == [True, False]


def test_a_contestant_that_breaks_is_told_and_the_others_go_on(contest, capsys):
    status, data = contest(GOOD[0], Fake("isthmus", None), GOOD[2])
    assert status == 1
    assert data["failures"]
    assert all(text.startswith("isthmus: it broke") for text in data["failures"])
    assert "it broke" in capsys.readouterr().out
    assert len(data["failures"]) < 5  # it is not tried in every pass


def test_one_that_gives_nothing_makes_the_status_even_without_limits(contest, capsys):
    status, data = contest(*GOOD, Fake("iperf3-1", None))
    assert all(limit["well"] for limit in data["limits"])
    assert (status, data["failed"]) == (1, ["iperf3-1"])


def test_an_alias_of_the_ssh_configuration_is_no_name_of_a_host(
    tmp_path: Path, monkeypatch, grid_with
):
    config = tmp_path / "config"
    config.write_text("Host site\nHostName login.site.example\n")
    monkeypatch.setenv("ISTHMUS_SSH", f"ssh -F {config}")
    grid = grid_with("[cluster.here]\n[cluster.there]\nhost = 'me@site'\n")
    ends = place.of_grid(grid, None).ends
    assert [end.address for end in ends] == ["127.0.0.1", "login.site.example"]
    assert ends[1].host == "me@site"


def test_json_that_cannot_be_written(monkeypatch, capsys):
    monkeypatch.setattr(p2p, "contestants", lambda *_: GOOD)
    words = ["bench", "p2p", "--testbed", "loopback", "--quick", "--json", "/no/such/folder/x"]
    assert main(words) == 2
    assert "cannot write" in capsys.readouterr().err


# -- measuring programs ---------------------------------------------------------------------------

PING = Task("pingpong", 8, 1)
LINE = '{"task":"pingpong:8:1","pairs":1,"seconds":[0.5]}'


def shell(script: str, **more) -> list[Run]:
    return measure(["/bin/sh", "-c", script], [PING], "x", 3, run_from_json, **more)


def test_lines_become_runs():
    assert shell(f"echo hello; echo '{LINE}'") == [Run("x", 3, PING, 1, (0.5,))]


def test_a_program_that_hangs_when_all_is_said_is_ended(monkeypatch):
    monkeypatch.setattr("isthmus.measuring.process._PARTING", 0.2)
    assert len(shell(f"echo '{LINE}'; exec sleep 600")) == 1


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo why >&2; exit 3", "status 3"),
        ("echo why >&2; exit 3", "| why"),
        ("echo '{\"task\":nonsense'", "invalid data"),
        ("exit 0", "1 of 1 tasks undone"),
    ],
)
def test_a_program_that_fails(script, said):
    with pytest.raises(RunError, match=said.replace("|", r"\|")):
        shell(script)


def test_what_was_done_before_a_failure_counts(contest, monkeypatch):
    class Half(Fake):
        def measure(self, tasks, number):
            raise BrokenOffError("it broke", super().measure(tasks, number))

    _, data = contest(Half("tcp", 20e-6), *GOOD[1:])
    assert "tcp" in {run["contestant"] for run in data["runs"]}
    assert data["failures"]


def test_a_program_that_gets_stuck(monkeypatch):
    monkeypatch.setattr(Task, "limit", property(lambda _: 0.1))
    with pytest.raises(RunError, match="got stuck with 1 of 1"):
        shell("exec sleep 600", start=0.2)


def test_what_a_program_started_is_gone_after_it(tmp_path: Path):
    note = tmp_path / "pid"
    shell(f"sleep 600 & echo $! > {note}; echo '{LINE}'")
    pid = int(note.read_text())

    def gone() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
        except OSError:
            return True

    eventually(gone, "the end of what it has started")


# -- the program over MPI -------------------------------------------------------------------------


def test_no_compiler():
    with pytest.raises(RunError, match="no MPI compiler '/no/such/mpicc'"):
        program.prepare("/no/such/mpicc")


def test_a_compiler_that_fails(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mpicc = shell_script(tmp_path / "mpicc", "echo 'p2p.c: it is Monday' >&2\nexit 1")
    with pytest.raises(RunError, match="it is Monday"):
        program.prepare(str(mpicc))
    assert list((tmp_path / "cache").rglob("*.c")) == []


def test_compiled_once(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    count = tmp_path / "count"
    mpicc = shell_script(
        tmp_path / "mpicc",
        f'[ "$1" = -show ] && exit\necho x >>{count}\n'
        'while [ "$1" != -o ]; do shift; done; touch "$2"; chmod +x "$2"',
    )
    first = program.prepare(str(mpicc))
    assert first == program.prepare(str(mpicc))
    assert os.access(first, os.X_OK)
    assert count.read_text() == "x\n"


# -- grid files -----------------------------------------------------------------------------------

GRID = """
[cluster.lyon]
host = "me@frontend.lyon.example"
mpi = "/opt/openmpi"
slots = 4
env = { OMP_NUM_THREADS = "4", "A.B" = 'quote " and \\ backslash' }
[cluster."tsu.kuba"]
launch = "srun --mpi=pmix -n {n} {command}"
[[gateway]]
cluster = "lyon"
address = "192.0.2.10:7400"
[[link]]
between = ["lyon", "tsu.kuba"]
rate = "10 Gbit/s"
encrypt = false
"""


def test_a_grid_written_out_is_the_same_grid():
    grid = grids.parse(GRID, "first")
    assert grids.parse(gridwriting.write(grid), "second") == grid


def test_links_get_a_reach_and_other_keys():
    plain = gridfile.reached(place.loopback().grid, "direct", encrypt=False)
    assert [(link.reach, link.encrypt) for link in plain.link] == [("direct", False)]
    assert gridfile.reached(plain, "gateway").link[0].encrypt is False


def test_in_one_room_isthmus_is_measured_without_encryption_too():
    ends = place.loopback()
    for name, there in (("room", True), ("hablot", False)):
        made = p2p._kinds(place.Place(name, ends.grid, ends.ends), Wanted(()))
        plain = [grid for key, _, grid, _ in made if key == "isthmus-direct-plain"]
        assert bool(plain) is there
        assert not any(link.encrypt for grid in plain for link in grid.link)


@pytest.mark.parametrize(
    ("name", "only", "there"),
    [
        ("fatpipe", (), True),
        ("room", (), False),
        ("room", ("isthmus*",), True),
        ("hablot", ("isthmus*",), False),
    ],
)
def test_plain_legs_and_proxies_are_compared_on_a_fat_pipe_and_if_chosen_in_one_room(
    name, only, there
):
    ends = place.loopback()
    lab = place.Place(name, ends.grid, ends.ends, lab=cast(Any, object()))
    wanted = Wanted(only)
    assert p2p._beside_proxies(lab, wanted) is there
    kinds = [key for key, *_ in p2p._kinds(lab, wanted)]
    assert ("isthmus-plain-legs" in kinds) is there


def test_clusters_may_have_plain_legs():
    grid = grids.parse(GRID, "first")
    plain = gridfile.with_plain_legs(grid)
    assert [cluster.encrypt for cluster in plain.cluster.values()] == [False, False]
    assert plain.link == grid.link


def test_ends_of_a_grid(grid_with):
    file = grid_with(GRID)
    near, far = place.of_grid(file, None).ends
    assert (near.host, near.address, near.port) == ("me@frontend.lyon.example", "192.0.2.10", 7400)
    assert (far.host, far.address, far.port) == (None, "127.0.0.1", 0)
    assert [end.cluster for end in place.of_grid(file, "tsu.kuba,lyon").ends] == [
        "tsu.kuba",
        "lyon",
    ]


@pytest.mark.parametrize(
    ("words", "inside"),
    [
        (
            "p2p --testbed lossy --set wan.loss=0 --size 64KiB --size 8B --seconds 1.5",
            "p2p --size=64KiB --size=8B --seconds=1.5",
        ),
        (
            "app --testbed hablot16 -n 4,8 --class W --layout split --time=-(x) --program=-n"
            " --no-tune --delay 1ms --quick --json x",
            "app -n 4,8 --quick --class=W --program=-n --time=-(x) --layout=split --no-tune",
        ),
        (
            "coll --testbed matsuda --variant plain -n 4 --equally --collective scan --only x",
            "coll --equally --only=x --collective=scan -n 4",
        ),
        ("cost --testbed room --loops 2 --only tcp --html x", "cost --loops=2 --only=tcp"),
        ("rma --testbed hablot --rounds 2 --passes 3", "rma --rounds=2 --passes=3"),
        ("io --testbed hablot --size 1GiB --folder /x", "io --size=1GiB --folder=/x"),
    ],
)
def test_options_go_into_the_lab(words, inside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []

    def measure_inside(testbed, lab, words):
        told.append(" ".join(words))
        raise RunError("that will do")

    monkeypatch.setattr(labs, "measure_inside", measure_inside)
    assert main(["bench", *words.split()]) == 1
    assert told == [inside]
