"""A working directory that is gone, closed streams and files of other systems' editors."""

import codecs
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main
from isthmus.grid import grid as grids

GRID = "[cluster.east]\r\nslots = 2\r\n[cluster.west]\r\n"
STREAMS = {"input": (0,), "output": (1,), "errors": (2,), "all": (0, 1, 2)}


def isthmus(*words, **more):
    command = [sys.executable, "-m", "isthmus", *words]
    python = str(Path(__file__).parents[2] / "python")
    return subprocess.run(
        command, env={**os.environ, "PYTHONPATH": python}, timeout=240, check=False, **more
    )


@pytest.mark.parametrize("words", [("run", "-n", "2", "/bin/true"), ("run", "--dry-run", "x")])
def test_a_working_directory_that_is_gone(tmp_path, words):
    folder = tmp_path / "gone"
    folder.mkdir()
    done = isthmus(*words, cwd=folder, preexec_fn=folder.rmdir, capture_output=True, text=True)
    said = "isthmus: the working directory cannot be used: No such file or directory"
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == said


def test_a_user_without_a_home(monkeypatch, capsys):
    def unknown(_):
        raise KeyError

    for name in ("HOME", "ISTHMUS_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert main(["jobs"]) == 1
    assert capsys.readouterr().err == "isthmus: this user has no home directory\n  Set HOME.\n"


@pytest.mark.parametrize("closed", STREAMS.values(), ids=STREAMS)
def test_closed_streams(tmp_path, closed):
    """A file that is opened later does not take their numbers: nothing is printed into it."""
    (tmp_path / "grid.toml").write_text(GRID)

    def close():
        for fd in closed:
            os.close(fd)

    open_ones = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    done = isthmus("run", "-n", "2", "/bin/echo", "x", cwd=tmp_path, preexec_fn=close, **open_ones)
    # /bin/echo never calls MPI_Init, which is an error; its output comes through.
    assert done.returncode == 1
    assert done.stdout == (b"" if 1 in closed else b"x\nx\n")
    assert (b"without MPI_Init" in done.stderr) == (2 not in closed)


def test_a_byte_order_mark(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_bytes(codecs.BOM_UTF8 + GRID.encode())
    assert list(grids.load(file).cluster) == ["east", "west"]
    assert next(grids.texts(file)).startswith("[cluster.east]")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16(tmp_path, encoding):
    file = tmp_path / "grid.toml"
    mark = codecs.BOM_UTF16_BE if encoding.endswith("be") else b""
    file.write_bytes(mark + GRID.encode(encoding))
    with pytest.raises(UsageError, match="is UTF-16 text\n  Save it as UTF-8"):
        grids.load(file)
