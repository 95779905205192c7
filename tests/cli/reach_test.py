"""`start` of a grid file: a command in place of ssh."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids
from isthmus.grid.reach import Entry, names_of
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.run.command import agent_command

POD = ["kubectl", "exec", "-i", "mpi-0", "--"]


def parse(text: str):
    return grids.parse(text, "g.toml")


def test_start_stands_in_the_place_of_ssh():
    grid = parse(f"[cluster.a]\nstart = {POD}\n[cluster.b]\n")
    plan = make_plan(grid, [Part(["x"], 2)])
    host = plan.agents[0].host
    assert isinstance(host, Entry)
    command = agent_command(host, None, "/work", "agent")
    assert command[: len(POD) + 2] == [*POD, "sh", "-c"]
    assert "cd /work" in command[-1]
    assert plan.where(plan.agents[0]) == "cluster a on kubectl exec -i mpi-0 --"


def test_gateways_and_relays_have_it_too():
    text = f"[cluster.a]\n[cluster.b]\n[[gateway]]\ncluster = 'a'\nstart = {POD}\n"
    text += f"[[relay]]\nstart = {POD}\naddress = 'x:7400'\n"
    plan = make_plan(parse(text), [Part(["x"], 2)])
    entered = [agent for agent in plan.agents if agent.host]
    assert len(entered) == 2
    assert all(isinstance(agent.host, Entry) for agent in entered)


def test_clusters_of_inner_grids_keep_it(tmp_path):
    (tmp_path / "inner.toml").write_text(f"[cluster.a]\nstart = {POD}\n")
    (tmp_path / "outer.toml").write_text("[grid.x]\nfile = 'inner.toml'\n[cluster.b]\n")
    grid = grids.load(tmp_path / "outer.toml")
    assert isinstance(grid.cluster["x.a"].host, Entry)


def test_other_hosts_do_not_dial_its_command():
    assert names_of(Entry(POD)) == []
    assert names_of("me@lyon") == ["lyon"]
    assert names_of(None) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start = 'kubectl'", "start must be an array"),
        ("start = []", "start must be a command"),
        ("start = ['-i']", "start must be a command"),
        ("start = ['kubectl', 'exec', 'pod', '--']", "start needs '-i'"),
        ("start = ['podman', 'exec', '-it', 'name']", "start must not have '-t'"),
        ("start = ['x']\nhost = 'y'", "start and 'host' are both given"),
        ("start = ['x']\n[cluster.b]\n[[link]]\nbetween = ['a', 'b']\nreach = 'ssh'",
         "'a' is reached by its 'start'"),
    ],
)  # fmt: skip
def test_what_is_wrong(text, said):
    with pytest.raises(UsageError) as wrong:
        parse(f"[cluster.a]\n{text}\n")
    assert said in str(wrong.value)


@pytest.mark.parametrize(
    "words",
    [POD, ["podman", "exec", "--interactive", "c"], ["nsenter", "-t", "12", "-a"], ["enter"],
     ["kubectl", "-n", "test", "exec", "-i", "pod", "-c", "main", "--"]],
)  # fmt: skip
def test_commands_that_are_taken(words):
    assert parse(f"[cluster.a]\nstart = {words}\n").cluster["a"].start == words
