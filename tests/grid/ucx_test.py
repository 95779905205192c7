"""Ranks, gateways and processes of several clusters whose bytes go by UCX."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
from running import Running

TALK = Path(__file__).parent / "ucx" / "talk.c"
GRID = """
[cluster.east]
net = "{inside}"
[cluster.west]
net = "{inside}"
[[link]]
between = ["east", "west"]
reach = "{reach}"
encrypt = false
net = "{between}"
"""


@pytest.fixture
def grid(tmp_path: Path):
    def write(inside: str = "ucx", between: str = "ucx", reach: str = "gateway") -> Path:
        path = tmp_path / "grid.toml"
        path.write_text(GRID.format(inside=inside, between=between, reach=reach))
        return path

    return write


@pytest.fixture(params=["tcp", "posix,self"], ids=["tcp", "memory"])
def transports(request, monkeypatch) -> str:
    """The transports that UCX uses for Isthmus alone."""
    monkeypatch.setenv("ISTHMUS_UCX_TLS", request.param)
    return request.param


@pytest.mark.parametrize("reach", ["gateway", "direct"])
def test_programs(isthmus, programs: Path, grid, transports, reach) -> None:
    """Mixed libraries, one of which (MPICH 4.0) uses UCX itself."""
    for program in ("p2p/modes.c", "coll/all.c")[: 1 if transports == "tcp" else 2]:
        east, west = (
            mpis.ALL[name].build(mpis.PROGRAMS / program, programs)
            for name in ("openmpi4", "mpich4")
        )
        parts = mpis.on(east=(2, east), west=(2, west))
        done = isthmus.well("run", "--stats", "-g", grid(reach=reach), *parts)
        assert re.search(r"east -> west, ucx +│", done.stderr), done.stderr
        assert re.search(r"east -> east's ranks, ucx \(2 of 2\)", done.stderr), done.stderr
        if reach == "direct":
            assert re.search(r"east -> west, ucx \(\d\)", done.stderr), done.stderr
        assert "UCX  " not in done.stderr, "users must not see the lines of UCX"


@pytest.mark.parametrize("reach", ["gateway", "direct"])
def test_a_rank_that_is_killed_ends_the_run(programs: Path, grid, transports, reach) -> None:
    program = mpis.ALL["openmpi4"].build(TALK, programs)
    words = ["run", "-g", grid(reach=reach), "-n", 4, program]
    run = Running(
        [sys.executable, "-m", "isthmus", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert run.stdout
    ranks = dict(map(int, run.stdout.readline().split()) for _ in range(4))
    os.kill(ranks[3], signal.SIGKILL)
    _, said = run.communicate(timeout=240)
    assert run.returncode != 0
    assert "rank 3" in said, said


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("RNDV_THRESH", "bar", ["Invalid value for RNDV_THRESH: 'bar'"]),
        ("TLS", "nonsense", ["no usable transports"]),
        ("TLS", "self", ["finds no way from one end to the other", "UCX_TLS and UCX_NET_DEVICES"]),
    ],
)
def test_what_ucx_says_of_its_settings_is_told(isthmus, grid, monkeypatch, name, value, words):
    monkeypatch.setenv(f"ISTHMUS_UCX_{name}", value)
    done = isthmus("run", "-g", grid(), "-n", 2, "true", timeout=240)
    assert done.returncode != 0
    for word in [*words, '"auto" in its place goes on by TCP']:
        assert word in done.stderr


def hide_ucx(monkeypatch, folder: Path) -> None:
    """A library by its name comes before the real one, and is none."""
    (folder / "hidden").mkdir()
    (folder / "hidden" / "libucp.so.0").write_text("not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder / "hidden"))


def test_without_the_library_ucx_is_an_error_and_auto_is_tcp(
    isthmus, programs: Path, grid, tmp_path, monkeypatch
) -> None:
    hide_ucx(monkeypatch, tmp_path)
    program = mpis.ALL["openmpi4"].build(mpis.PROGRAMS / "p2p/modes.c", programs)
    done = isthmus("run", "-g", grid(), "-n", 4, program, timeout=240)
    assert done.returncode != 0
    assert "UCX cannot be opened on" in done.stderr
    assert "libucx0" in done.stderr
    done = isthmus.well("run", "--stats", "-g", grid("auto", "auto"), "-n", 4, program)
    assert "ucx" not in done.stderr
