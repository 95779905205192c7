"""Hosts on the command line: -H and --hostfile; and wishes for the native launchers."""

import socket

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main, parse_run
from isthmus.grid import hostlist
from isthmus.grid.hostlist import Host


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a,b", [Host("a", "a"), Host("b", "b")]),
        ("a:2,b:4", [Host("a", "a", 2), Host("b", "b", 4)]),
        ("a:2,b", [Host("a", "a", 2), Host("b", "b", 1)]),
        ("a,b,a", [Host("a", "a", 2), Host("b", "b", 1)]),
        ("me@a.site.org:3", [Host("a.site.org", "me@a.site.org", 3)]),
    ],
)
def test_hosts_of_the_option(text, hosts):
    assert hostlist.of_option(text) == hosts
    assert parse_run(["-H", text, "x"]).hosts == hosts
    assert parse_run([f"--host={text}", "x"]).hosts == hosts
    assert parse_run(["x"]).hosts is None


def test_hosts_of_a_file(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# two\nlyon slots=4 max_slots=8\n\nme@tsukuba:2  # MPICH's way\nlyon\n")
    expected = [Host("lyon", "lyon", 5), Host("tsukuba", "me@tsukuba", 2)]
    assert parse_run(["--hostfile", str(file), "x"]).hosts == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-H", "a,,b"], ["'' is not a host"]),
        (["-H", "a:0"], ["'0' is not a number of ranks for a"]),
        (["-H", "-a"], ["'-a' is not a host"]),
        (["-H", "a", "--hostfile", "f"], ["both name hosts"]),
        (["-H", "a", "-g", "f"], ["for runs without a grid file"]),
        (["--hostfile", "/missing/file"], ["cannot read the host file /missing/file"]),
        (
            ["--bind-to", "l3cache", "--map-by", "nod"],
            ["'hwthread', 'core', 'numa', 'socket', 'none'", "'node'?"],
        ),
    ],
)
def test_what_is_wrong(words, said, capsys):
    assert main(["run", *words, "./app"]) == 2
    printed = capsys.readouterr().err
    for text in said:
        assert text in printed


def test_all_wrong_lines_of_a_file(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("a slot=4\nb\n-c\nd:0\n")
    with pytest.raises(UsageError) as wrong:
        hostlist.of_file(file)
    assert [number for number in range(1, 6) if f"{file}:{number}: " in str(wrong.value)] == [
        1,
        3,
        4,
    ]
    file.write_text("# nothing\n")
    with pytest.raises(UsageError, match="names no host"):
        hostlist.of_file(file)


def test_each_host_is_a_cluster_and_this_host_needs_no_ssh():
    here = socket.gethostname()
    grid = hostlist.grid_of(hostlist.of_option(f"lyon:2,localhost,{here}x,me@{here}"))
    assert {name: (spec.host, spec.slots) for name, spec in grid.cluster.items()} == {
        "lyon": ("lyon", 2),
        "localhost": (None, 1),
        f"{here}x": (f"{here}x", 1),
        here: (f"me@{here}", 1),
    }


def test_the_plan(capsys, monkeypatch):
    monkeypatch.setenv("ISTHMUS_GRID", "/missing/grid.toml")  # -H goes first
    assert main(["run", "-H", "lyon:3,me@tsukuba", "--dry-run", "-n", "4", "./app"]) == 0
    said = capsys.readouterr().out
    assert "cluster lyon on lyon: ranks 0-2" in said
    assert "cluster tsukuba on me@tsukuba: rank 3" in said


def test_submit_takes_no_hosts(capsys):
    assert main(["submit", "-H", "lyon", "./app"]) == 2
    assert "takes no -H" in capsys.readouterr().err


def test_wishes_become_settings_of_agents():
    job = parse_run(["--bind-to", "core", "-map-by", "node", "x"]).job
    assert job.native == {"bind_to": "core", "map_by": "node"}
    assert parse_run(["x"]).job.native == {}
