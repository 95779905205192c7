"""The command's own texts: help in every form, version, completion, manual pages, and the sample
of a grid file."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import commandhelp
import pytest
from running import ran

from isthmus.base import completing
from isthmus.cli.cli import app
from isthmus.cli.gridcommand import SAMPLE
from isthmus.grid import grid as grids
from isthmus.seeing import runs
from isthmus.version import VERSION, WIRE

ROOT = Path(__file__).parents[2]


def isthmus(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return ran(
        [sys.executable, "-m", "isthmus", *words], env={**os.environ, "COLUMNS": "120", **env}
    )


@pytest.mark.parametrize("words", [(), ("-h",), ("--help",), ("help",)])
def test_help_is_found(words):
    done = isthmus(*words)
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("Usage: isthmus", "run", "doctor", "grid", "completion"):
        assert word in done.stdout


@pytest.mark.parametrize("words", [("lab",), ("lab", "-h"), ("help", "lab"), ("lab", "--help")])
def test_help_of_a_group(words):
    done = isthmus(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: isthmus lab" in done.stdout


def test_help_of_a_command_says_where_options_end():
    done = isthmus("help", "run")
    assert "Put options before the program" in " ".join(done.stdout.split())
    assert isthmus("run", "-h").stdout == done.stdout


@pytest.mark.parametrize("word", ["version", "--version", "-V"])
def test_version(word):
    said = isthmus(word).stdout
    assert re.fullmatch(
        rf"isthmus {re.escape(VERSION)}, commit [0-9a-f]+(-dirty)?, wire protocol {WIRE}\n", said
    )


def test_what_is_no_command_has_a_sentence():
    done = isthmus("help", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("isthmus: No such command 'nonsense'.\n")
    assert "See: isthmus --help" in isthmus("nonsense").stderr


# ---- completion ---------------------------------------------------------------------------------


def completed(line: str) -> list[str]:
    words = line.split(" ")
    done = isthmus(
        _ISTHMUS_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_and_options_are_completed():
    assert completed("isthmus r") == ["run"]
    assert completed("isthmus lab c") == ["check", "cut"]
    assert completed("isthmus run --ta") == ["--tag-output"]


def test_values_are_completed(tmp_path, monkeypatch, grid_with):
    file = grid_with("[cluster.lyon]\n[cluster.lab]\n[cluster.tsukuba]\n")
    for name in ("isthmus-0a", "isthmus-1b"):
        (tmp_path / "jobs" / name).mkdir(parents=True)
    (tmp_path / "runs").mkdir(mode=0o700)
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    assert completed("isthmus run --on ") == ["east", "west"]
    assert completed(f"isthmus run -g {file} --on l") == ["lyon", "lab"]
    assert completed(f"isthmus submit -n 3 -g {file} --on ts") == ["tsukuba"]
    assert completed(f"isthmus install -g {file} ly") == ["lyon"]
    assert completed("isthmus attach isthmus-1") == ["isthmus-1b"]
    assert completed("isthmus cancel ") == ["isthmus-0a", "isthmus-1b"]
    assert "matsuda" in completed("isthmus lab run m")
    assert "matsuda-fig6" in completed("isthmus bench papers matsuda-")
    assert completed("isthmus run --bind-to s") == ["socket"]
    assert completed("isthmus run --map-by n") == ["node"]
    monkeypatch.setenv("ISTHMUS_GRID", str(file))
    assert completed("isthmus run --on t") == ["tsukuba"]


def test_what_cannot_be_completed_says_nothing(grid_with):
    file = grid_with("[cluster.a\n")
    for words in (f"run -g {file} --on ", "run -g /missing --on ", "install "):
        assert completed(f"isthmus {words}") == []


def test_runs_are_completed(monkeypatch):
    monkeypatch.setattr(runs, "every", lambda: [SimpleNamespace(job="isthmus-7c")])
    assert completing.runs("isth") == ["isthmus-7c"]
    assert completing.runs("x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell(shell):
    done = isthmus("completion", shell)
    assert done.returncode == 0
    assert f"_ISTHMUS_COMPLETE=complete_{shell}" in done.stdout


def test_bash_takes_its_script():
    script = isthmus("completion", "bash").stdout
    done = subprocess.run(
        ["bash", "-c", f"{script}\ncomplete -p isthmus"], capture_output=True, text=True, check=True
    )
    assert "_isthmus_completion isthmus" in done.stdout


# ---- manual pages -------------------------------------------------------------------------------


def test_every_command_has_a_page_with_all_its_options():
    made = commandhelp.pages(app)
    assert {"isthmus.1", "isthmus-run.1", "isthmus-profile.1"} <= set(made)
    assert not {"isthmus-lab.1", "isthmus-bench.1"} & set(made)
    page = made["isthmus-run.1"].replace("\\-", "-")
    options = set(re.findall(r"--[a-z-]+", isthmus("run", "--help").stdout)) - {"--help"}
    assert len(options) > 8
    assert not {option for option in options if option not in page}
    assert "isthmus profile show" in made["isthmus-profile.1"]


def test_the_build_writes_pages_and_scripts(tmp_path):
    subprocess.run(
        [sys.executable, ROOT / "tools/generate/manual.py", tmp_path], check=True, timeout=240
    )
    share, labs = tmp_path / "isthmus", tmp_path / "isthmus-lab"
    assert (share / "man/man1/isthmus-run.1").read_text().startswith('.TH "ISTHMUS-RUN" "1"')
    assert (share / "man/man5/isthmus-grid.5").is_file()
    assert (share / "man/man7/isthmus-environment.7").is_file()
    assert (share / "bash-completion/completions/isthmus").is_file()
    assert (share / "zsh/site-functions/_isthmus").read_text().startswith("#compdef isthmus")
    assert "isthmus lab restore" in (labs / "man/man1/isthmus-lab.1").read_text()
    assert (labs / "man/man1/isthmus-bench.1").is_file()


# ---- the grid file ------------------------------------------------------------------------------


def test_the_sample_is_a_grid_file(grid_with):
    file = grid_with(isthmus("grid", "--sample").stdout)
    assert file.read_text() == SAMPLE.read_text()
    assert list(grids.load(file).cluster) == ["east", "west"]
    done = isthmus("grid", "-g", str(file))
    assert done.returncode == 0
    assert "cluster east: me@login.east.example, 32 slots" in done.stdout
    assert done.stdout.endswith("no errors found\n")


def test_what_the_sample_has_as_comments_is_right_too():
    text = re.sub(r"(?m)^# (?=\w+ +=)", "", SAMPLE.read_text())
    assert grids.parse(text, "sample").cluster["east"].env == {"OMP_NUM_THREADS": "4"}


def test_a_wrong_grid_file_is_told(grid_with):
    file = grid_with("[cluster.a]\nslot = 3\n")
    done = isthmus("grid", "-g", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'slots'?" in done.stderr
    assert "isthmus grid --sample" in isthmus("grid", ISTHMUS_GRID="").stderr
