"""Command lines of `isthmus run` that are read without typer mean the same as with it."""

import subprocess
import sys
from pathlib import Path

import pytest

import isthmus
from isthmus.cli import cli, quickrun
from isthmus.job.argv import split_parts
from isthmus.place.partoptions import PartOptions, described

GOOD = [
    ["./app"],
    ["-n", "4", "./app", "-n", "5"],
    ["-n4", "./app"],
    ["-np", "4", "--np=5", "./app"],
    ["--stats", "-v", "-x", "A=1", "-x", "B=-2", "-g", "grid.toml", "./app"],
    ["-H", "a:2,b", "--bind-to", "core", "--map-by=node", "./app"],
    ["--timeout", "1.5", "--wait", "2h", "--", "-app"],
    ["-o", "out.%r", "--error=err.%r", "--wdir", "/tmp", "--mpi", "mpich", "./app"],
    ["--on", "a", "-n", "1", "./a", ":", "--on", "b", "./b", "x:", "y"],
    ["-env", "A", "1", "-genv", "B", "x,y", "-envlist", "C,D", "-genvlist", "E,F", "./app", "-env"],
    ["--env", "A=1=2", "--genv", "B=it's", "--export=ALL,C=1", "./a", ":", "-env", "D", "", "./b"],
    ["-f", "hosts", "-wdir", "", "./app"],
    [
        "--stage",
        "a",
        "--stage",
        "b",
        "--guests",
        "--reorder",
        "--reproducible",
        "--dry-run",
        "./app",
    ],
]
LEFT = [
    [], [":"], ["./a", ":"], ["-h"], ["--help"], ["-n"], ["-n", "two", "x"], ["-n", "0", "x"],
    ["-n", "x"], ["--timeout", "0", "x"], ["--frob", "x"], ["-g=grid", "x"], ["--stats=1", "x"],
    ["-vv", "x"], ["--mca", "a", "b", "x"], ["-", "x"], ["-n", "99999999999", "x"],
    ["-env"], ["-genv", "A"], ["-envlist"],
]  # fmt: skip


@pytest.mark.parametrize("words", GOOD)
def test_the_same_as_with_typer(words):
    by_typer = [cli._parsed("run", part, PartOptions) for part in split_parts(words)]
    assert quickrun.parts(words) == by_typer


def test_every_option_is_read():
    values = {int | None: "3", float | None: "2.5"}
    for kind, option in described().values():
        for name in option.names:
            words = [name] if kind is bool else [name, values.get(kind, "text")]
            found = quickrun.parts([*words, "x"])
            assert found == [cli._parsed("run", [*words, "x"], PartOptions)], name


@pytest.mark.parametrize("words", LEFT)
def test_errors_and_help_are_left_to_typer(words):
    read = quickrun.parts(words)
    if words == ["-", "x"]:  # a program's name
        assert read == [cli._parsed("run", words, PartOptions)]
    else:
        assert read is None


def test_a_run_without_a_grid_file_imports_neither_typer_nor_pydantic():
    text = (
        "import sys; from isthmus.cli import entry; "
        "entry.main(['run', '-n', '2', '--dry-run', 'x']); "
        "print(sorted({'typer', 'pydantic', 'pydantic_core', 'rich'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True, text=True, timeout=60, check=True,
        env={"PYTHONPATH": str(Path(isthmus.__file__).parents[1]), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
