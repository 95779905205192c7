"""Clusters that a command enters, in place of ssh, as `podman exec -i NAME` does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from faulty import Grid, check
from running import ran

from isthmus.install import find_isthmusd

# Behaves as `podman exec -i NAME COMMAND` does, with a home folder for each NAME.
ENTER = """\
#!/bin/sh
[ "$1 $2" = "exec -i" ] || { echo "enter: usage: exec -i NAME COMMAND" >&2; exit 125; }
cd "${0%/*}/$3" 2>/dev/null || { echo "enter: no container '$3'" >&2; exit 1; }
HOME=$PWD
export HOME
shift 3
exec "$@"
"""


@pytest.fixture
def enter(tmp_path: Path) -> Path:
    program = tmp_path / "enter"
    program.write_text(ENTER)
    program.chmod(0o755)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    return program


def cluster(name: str, enter: Path, place: str, more: str = "") -> str:
    start = json.dumps([str(enter), "exec", "-i", place])
    return f"[cluster.{name}]\nstart = {start}\n{more}"


def isthmus(*words: object, **env: str) -> subprocess.CompletedProcess[str]:
    return ran(
        [sys.executable, "-m", "isthmus", *words], env={**os.environ, "ISTHMUS_SSH": "false", **env}
    )


def installation(folder: Path) -> Path:
    """An installation like pip's, of what was built."""
    real = find_isthmusd()
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/isthmusd").symlink_to(real)
    libraries = next(
        place
        for place in (real.parent.parent / "lib/isthmus", *(p / "lib" for p in real.parents))
        if any(place.glob("libisthmus-face-*.so"))
    )
    (folder / "lib").mkdir()
    (folder / "lib/isthmus").symlink_to(libraries)
    return folder


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
def test_a_run(grid: Grid, program, enter: Path, tmp_path: Path, mpi):
    whole = installation(tmp_path / "whole")
    prefix = f'prefix = "{whole}"\n'
    grid.environment["ISTHMUS_SSH"] = "false"
    setup = 'setup = ["export FROM_SETUP=1"]\n'
    grid.write(cluster("a", enter, "one", prefix) + cluster("b", enter, "two", prefix + setup))
    done = grid.run("-g", "grid.toml", "-n", 4, program(mpi))
    assert done.returncode == 0, done.stderr
    assert "up 4" in done.stdout


def test_what_cannot_be_entered(grid: Grid, enter: Path):
    grid.write(cluster("a", enter, "one") + cluster("b", enter, "gone"))
    done = grid.run("-g", "grid.toml", "-n", 2, "true")
    check(
        done,
        1,
        "cluster b on",
        "enter ended with status 1 before isthmusd had started",
        "no container 'gone'",
        "exec -i gone true",
        "'start'",
    )


def test_installing_and_examining(enter: Path, tmp_path: Path, grid_with):
    """A run finds the installation below ~/isthmus there, and the doctor accepts it."""
    whole = installation(tmp_path / "whole")
    file = grid_with(cluster("a", enter, "one") + cluster("b", enter, "two"))
    done = isthmus("install", "-g", file, ISTHMUS_PREFIX=str(whole))
    assert done.returncode == 0, done.stderr
    for name in ("one", "two"):
        assert (tmp_path / name / "isthmus/bin/isthmusd").is_file()
        assert f"exec -i {name}: Isthmus " in done.stdout
    done = isthmus("doctor", file, "--json")
    found = json.loads(done.stdout)
    findings = found if isinstance(found, list) else found["findings"]
    assert [f for f in findings if f["what"] == "enter" and f["level"] == "ok"]
    assert not [f for f in findings if f["level"] == "fail"], findings


def test_names_for_installing_are_clusters(enter: Path, grid_with):
    file = grid_with(cluster("a", enter, "one") + "[cluster.here]\n")
    done = isthmus("install", "-g", file, "b")
    check(done, 2, "has no cluster 'b'")
    check(isthmus("install", "-g", file, "here"), 2, "names no other host")
