"""The command line of `isthmus run`."""

import re

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main, parse_run
from isthmus.job.argv import split_parts


def test_options_stop_at_the_program():
    options = parse_run(["-n", "4", "--stats", "./x", "-n", "9", "-v", "--grid", "y"])
    assert (options.parts[0].n, options.job.stats, options.verbose, options.grid) == (
        4,
        True,
        False,
        None,
    )
    assert options.parts[0].argv == ["./x", "-n", "9", "-v", "--grid", "y"]


@pytest.mark.parametrize("words", [["-np", "4"], ["-n4"], ["-n", "4", "--"]])
def test_ways_to_write_n(words):
    part = parse_run([*words, "x"]).parts[0]
    assert (part.n, part.argv) == (4, ["x"])


def test_parts():
    words = ["-g", "g", "--on", "a", "-n", "4", "./x", "1", ":", "--on", "b", "-n", "2", "./y"]
    first, second = parse_run(words).parts
    assert (first.on, first.n, first.argv) == ("a", 4, ["./x", "1"])
    assert (second.on, second.n, second.argv) == ("b", 2, ["./y"])
    assert split_parts(["a", ":", ":", "b"]) == [["a"], [], ["b"]]


def test_export(monkeypatch):
    monkeypatch.setenv("HERE", "yes")
    part = parse_run(["-x", "HERE", "-x", "A=b=c", "-x", "EMPTY=", "x"]).parts[0]
    assert part.env == {"HERE": "yes", "A": "b=c", "EMPTY": ""}


def test_all_ranks_hear_that_topologies_may_move_them():
    parts = parse_run(["--reorder", "-n", "1", "x", ":", "-n", "1", "y"]).parts
    assert [part.env["ISTHMUS_REORDER"] for part in parts] == ["1", "1"]
    assert "ISTHMUS_REORDER" not in parse_run(["x"]).parts[0].env


def test_survival() -> None:
    options = parse_run(["--survive", "--min-clusters", "2", "x"])
    assert (options.survive, options.min_clusters) == (True, 2)
    assert not parse_run(["x"]).survive


def test_reproducible_is_for_all_parts() -> None:
    parts = parse_run(["--reproducible", "-n", "1", "x", ":", "-n", "1", "y"]).parts
    assert [part.env["ISTHMUS_REPRODUCIBLE"] for part in parts] == ["1", "1"]
    assert "ISTHMUS_REPRODUCIBLE" not in parse_run(["x"]).parts[0].env


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-x", "NOT_SET_ANYWHERE", "x"], "-x NOT_SET_ANYWHERE: the variable is not set here"),
        (["-x", "1A=3", "x"], "'1A' is not a name for an environment variable"),
        (["-x", "=3", "x"], "'' is not a name for an environment variable"),
        (["x", ":", "-v", "y"], "part 2 ('y') has --verbose, which is for the whole run"),
        (["x", ":", "-g", "f", "y"], "part 2 ('y') has --grid"),
        (["x", ":", "--timeout", "3", "y"], "part 2 ('y') has --timeout"),
    ],
)
def test_wrong_combinations(words, said):
    with pytest.raises(UsageError) as caught:
        parse_run(words)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "-n", "4"],
        ["run", "-n", "x", "prog"],
        ["run", "-n", "0", "prog"],
        ["run", "-n", "-3", "prog"],
        ["run", "--frobnicate", "prog"],
        ["run", "-n", "1", "prog", ":"],
        ["run", ":", "prog"],
        ["run", "--timeout", "0", "prog"],
        ["run", "--timeout", "soon", "prog"],
        ["run", "-g", "/nonexistent/grid.toml", "prog"],
        ["run", "--on", "north", "prog"],
        ["run", "--trace", "p.json", "--profile", "./p.json", "prog"],
        ["frobnicate"],
        ["--frobnicate"],
    ],
)
def test_usage_errors_are_sentences_with_status_2(words, capsys):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("isthmus: ")
    assert "Traceback" not in captured.err


def test_help_and_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("isthmus ")
    for words in (["--help"], ["run", "--help"], ["run", "-n", "4", "--help"]):
        assert main(words) == 0
        assert "Usage:" in capsys.readouterr().out


def test_help_after_the_program_is_the_programs():
    assert parse_run(["prog", "--help"]).parts[0].argv == ["prog", "--help"]


def test_wrong_limits_in_the_environment(monkeypatch, capsys):
    monkeypatch.setenv("ISTHMUS_START_TIMEOUT", "soon")
    monkeypatch.setenv("ISTHMUS_PREFIX", "/")
    monkeypatch.setattr("isthmus.job.execution.command_of", lambda *_, **__: ["true"])
    assert main(["run", "x"]) == 2
    assert (
        "ISTHMUS_START_TIMEOUT must be a number of seconds; it is 'soon'" in capsys.readouterr().err
    )


def test_the_grid_file_of_the_environment(monkeypatch, tmp_path, capsys):
    named, given = tmp_path / "named.toml", tmp_path / "given.toml"
    named.write_text('[cluster.north]\nprefix = "/x"\n')
    given.write_text('[cluster.south]\nprefix = "/x"\n')
    monkeypatch.setenv("ISTHMUS_GRID", str(named))
    assert main(["run", "--dry-run", "-n", "1", "app"]) == 0
    assert "north" in capsys.readouterr().out
    assert main(["run", "--dry-run", "-n", "1", "-g", str(given), "app"]) == 0
    assert "south" in capsys.readouterr().out
    monkeypatch.setenv("ISTHMUS_GRID", str(tmp_path / "none.toml"))
    assert main(["run", "--dry-run", "app"]) == 2
    assert "cannot read the grid file" in capsys.readouterr().err


def test_metrics_takes_a_port_and_maybe_an_address():
    assert parse_run(["--metrics", "9400", "x"]).job.metrics == ("127.0.0.1", 9400)
    assert parse_run(["--metrics", "0.0.0.0:9400", "x"]).job.metrics == ("0.0.0.0", 9400)
    assert parse_run(["--metrics", "[::1]:9400", "x"]).job.metrics == ("::1", 9400)
    assert parse_run(["x"]).job.metrics is None


@pytest.mark.parametrize("wrong", ["metrics", "127.0.0.1:", "70000", "-1", "::1"])
def test_wrong_metrics(wrong, capsys):
    assert main(["run", f"--metrics={wrong}", "x"]) == 2
    assert f"--metrics {wrong}" in capsys.readouterr().err


# ---- files of the ranks -------------------------------------------------------------------------


def test_output_files_are_told_to_the_ranks():
    parts = parse_run(["--output", "o/%h.%r", "-n", "1", "a", ":", "-n", "1", "b"]).parts
    assert [part.env["ISTHMUS_OUTPUT"] for part in parts] == ["o/%h.%r"] * 2
    assert "ISTHMUS_ERROR" not in parts[0].env
    assert parse_run(["--show-ranks", "a"]).parts[0].env["ISTHMUS_SHOW_RANK"] == "1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--output", "log", "a"], "--output log: all ranks would write to one file"),
        (["--error", "%%r", "a"], "--error %%r: all ranks"),
        (["-o", "x.%t", "a"], "'%t' has no meaning"),
        (["-o", "x.%r%", "a"], "'%' has no meaning"),
        (["a", ":", "-o", "x.%r", "b"], "has --output, which is for the whole run"),
    ],
)
def test_names_of_output_files_that_are_wrong(words, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_run(words)
