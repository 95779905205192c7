"""A launcher that has lost the clusters on other hosts, with fake agents (run/yielding.py)."""

import os
import sys

import pytest
from running import ran, shell_script
from scenarios import check, exits, spawned
from waiting import eventually

from isthmus.base.limits import Limits
from isthmus.base.outcome import Ending
from isthmus.base.relay import Voice
from isthmus.grid import grid as grids
from isthmus.place.beside import Beside
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.place.survival import of_run
from isthmus.queues.place import Place
from isthmus.run.failing import Failing
from isthmus.run.launcherhost import _memory_place
from isthmus.run.leaving import Leaving
from isthmus.run.members import Members
from isthmus.run.yielding import Yielding

GIVES_WAY = 'this launcher has lost cluster "north", and does not know whether their ranks'
SUSPECT = {"op": "suspect", "gateway": 0x80000000, "cluster": 1, "message": "it is silent"}
WORDS = ("--survive", "--on", "east", "-n", "1", "x", ":", "--on", "north", "-n", "3", "x")


def joined(name):
    return [{"say": {"op": "joined", "cluster": name, "ranks": 1}}, {"mark": "joined"}]


@pytest.fixture
def two(grid, tmp_path):
    """East is here with one rank, and north elsewhere with three. East ends well once it has heard
    of a failure."""
    ssh = shell_script(
        tmp_path / "ssh", 'while [ "$1" != -- ]; do shift; done\nshift 2\nexec sh -c "$*"'
    )

    def make(east=(), north=(), **on):
        scenario = spawned(*joined("east"), {"wait_for": "north/joined"}, *east)
        scenario["on"]["failed"] = [exits()]
        grid.cluster("east", **scenario)
        scenario = spawned(*joined("north"), {"wait_for": "east/joined"}, *north)
        scenario["on"].update(on)
        grid.cluster("north", 'host = "there"', **scenario)
        return grid

    def run(*words):
        return grid.run(*WORDS, *words, env={"ISTHMUS_SSH": str(ssh)})

    make.run = run
    return make


def test_the_status_of_ssh_tells_nothing_of_the_ranks(two):
    two(north=[{"die": 3}])
    check(two.run(), 1, GIVES_WAY)


def test_ranks_have_died_if_their_agent_says_so(two):
    two(north=[exits(status=137, signal=9, finalized=False)])
    check(two.run(), 0, 'cluster "north" has failed', "1 cluster goes on")


def test_a_cluster_that_still_hears_the_launcher_is_ended(two):
    grid = two(east=[{"say": SUSPECT}])
    check(two.run(), 0, 'cluster "north" has failed: it is silent; 1 cluster goes on')
    assert grid.installs["north"].told("kill")


def test_agents_elsewhere_do_not_hear_that_the_run_ends(two):
    """The launcher gives way to them, and they may need its relay."""
    grid = two(east=[{"say": SUSPECT}], kill=[])
    grid.cluster("mid", 'host = "there"')
    grid.extra = "".join(f"[[link]]\nbetween = ['mid', '{one}']\n" for one in ("east", "north"))
    check(two.run(), 1, GIVES_WAY)
    assert grid.installs["east"].heard[-1]["op"] == "end"
    for name in ("mid", "north"):
        ops = [message["op"] for message in grid.installs[name].heard]
        assert ops[-1] == "EOF"
        assert "end" not in ops


def test_batch_jobs_that_may_go_on_are_not_cancelled(grid, tmp_path):
    """The agents in them may live, although this launcher has lost them."""
    queue = tmp_path / "queue.sh"
    queue.write_text(
        "#ISTHMUS submit = (sh {script} < /dev/null > {script}.out 2>&1 &); basename {script} .sh\n"
        f"#ISTHMUS cancel = touch '{tmp_path}/cancelled.'{{id}}\n{{command}}\n"
    )
    lines = f'scheduler = "{queue}"'
    here = {"memory": _memory_place()}
    grid.cluster("east", lines, hello=here, **spawned(*joined("east")))
    north = spawned({"wait_for": "east/joined"}, *joined("north"), {"die": 3})
    grid.cluster("north", lines, hello={"memory": "elsewhere"}, **north)
    submitted = ran(
        [sys.executable, "-m", "isthmus", "submit", "-g", grid.file, "--meet", "localhost", *WORDS],
        env=os.environ | {"ISTHMUS_HOME": str(tmp_path / "home")},
    )
    assert submitted.returncode == 0, submitted.stderr
    (job,) = (tmp_path / "home" / "jobs").glob("*")
    place = Place(job)
    eventually(lambda: place.facts("state.json").get("state") == "ended", "the end of the job")
    assert place.facts("state.json")["sentence"].startswith(GIVES_WAY)
    assert [file.name for file in tmp_path.glob("cancelled.*")] == ["cancelled.east"]


def test_agents_learn_of_gateways_that_are_lost(grid, tmp_path):
    ssh = shell_script(
        tmp_path / "ssh",
        f"""while [ "$1" != -- ]; do shift; done
shift 2
exec 3<&0
sh -c "$*" <&3 &
while [ ! -e '{tmp_path}/north/joined' ]; do sleep 0.05; done
kill -9 $!
""",
    )
    east = spawned(*joined("east"))
    east["on"]["lost"] = [exits()]
    grid.cluster("east", **east)
    north = spawned({"wait_for": "east/joined"}, *joined("north"))
    north["on"]["lost"] = [exits()]
    grid.cluster("north", **north)
    grid.extra = "[[gateway]]\ncluster = 'north'\n[[gateway]]\ncluster = 'north'\nhost = 'g'\n"
    done = grid.run(*WORDS, env={"ISTHMUS_SSH": str(ssh)})
    check(done, 0, "the other gateways of the cluster go on")
    assert grid.installs["east"].told("lost")["gateways"] == [0x80000002]


@pytest.fixture
def three():
    """Clusters a, b and c, of which a is here."""
    text = "[cluster.a]\n[cluster.b]\nhost = 'b'\n[cluster.c]\nhost = 'c'\n"
    grid = grids.parse(text, "g.toml")
    plan = make_plan(grid, [Part(argv=["x"], n=6)])
    plan.survival = of_run(grid, ["a", "b", "c"], survive=True, least=None)
    plan.beside = Beside(frozenset({0}), frozenset({0x80000000}), 1)
    members = Members(plan, [[] for _ in plan.agents])
    failing = Failing(plan.survival, [(one.name, one.block.size) for one in plan.clusters], {})

    def index(member):
        return member.plan.cluster

    leaving = Leaving(members, Limits(), Voice(False))
    yielding = Yielding(plan, members, Ending(), failing, leaving, Limits(), index)
    return [*members], failing, yielding


def test_clusters_that_failed_before_count_as_well(three):
    _, failing, yielding = three
    failing.failed = {1}
    assert yielding.stronger([2]) == [1, 2]
    yielding.dead.add(1)
    assert yielding.stronger([2]) == []


def test_agents_that_know_a_larger_world_give_nobody_up(three):
    members, _, yielding = three
    assert yielding.stronger([1, 2]) == [1, 2]
    members[1].grown = True
    assert yielding.stronger([1, 2]) == []


@pytest.mark.parametrize(
    ("finalized", "gateways", "to"),
    [(False, True, []), (True, True, [1, 2]), (False, False, [1, 2])],
    ids=["dead", "ended well", "no gateway knows"],
)
def test_a_good_end_is_no_death(three, finalized, gateways, to):
    members, _, yielding = three
    members[1].exited = {"op": "exit", "finalized": finalized}
    if not gateways:
        members[1].plan.gateways.clear()
    assert yielding.stronger([1, 2]) == to
