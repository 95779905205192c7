"""Arguments, names of files and what is printed of them are bytes, in every locale."""

import os
import subprocess
import sys

import pytest

# Python's way to a locale that is not UTF-8, which need not be installed.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PLACES = {"C": {"LC_ALL": "C"}, "UTF-8": {"LC_ALL": "C.UTF-8"}, "ascii": ASCII}
NAME = b"latin1-t\xe9t-utf8-\xc3\xa9"


@pytest.fixture(params=PLACES)
def isthmus(request, tmp_path):
    """Runs a command. The exit status, and the bytes of both streams."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}

    def run(*words):
        command = [sys.executable, "-m", "isthmus", *words]
        done = subprocess.run(
            command, env={**kept, **PLACES[request.param]}, cwd=tmp_path, capture_output=True,
            timeout=240, check=False,
        )  # fmt: skip
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done.returncode, done.stdout + done.stderr

    return run


def test_words_are_shown_as_they_were_typed(isthmus):
    status, printed = isthmus("run", "--dry-run", "-n", "2", b"./" + NAME, b"\xe9 \xff")
    assert status == 0
    assert b"./" + NAME in printed
    assert b"\xe9 \xff" in printed


def test_a_folder(isthmus, tmp_path):
    folder = tmp_path / os.fsdecode(NAME)
    folder.mkdir()
    (folder / "grid.toml").write_text("[cluster.east]\nslots = 3\n")
    status, printed = isthmus("run", "--dry-run", "-g", NAME + b"/grid.toml", "./app")
    assert status == 0, printed
    assert b"start    3 x ./app" in printed


def test_errors_show_bytes(isthmus):
    status, printed = isthmus("run", "-g", NAME, "./app")
    assert status == 2
    assert b"cannot read the grid file " + NAME in printed


def test_batch_scripts(isthmus, tmp_path):
    (tmp_path / "grid.toml").write_text('[cluster.east]\nscheduler = "slurm"\n')
    wdir = os.fsencode(tmp_path) + b"/" + NAME
    status, printed = isthmus(
        "submit", "-g", "grid.toml", "--dry-run", "--meet", "here", "--wdir", wdir, "./app"
    )
    assert status == 0, printed
    assert b"cd '" + wdir + b"'" in printed or b"cd " + wdir in printed
