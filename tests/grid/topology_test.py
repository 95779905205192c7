"""A program with isthmus.h, without Isthmus, on one cluster, and over links that a grid file
describes. Its questions about two clusters are in tests/programs/topology_api."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from running import ran

GRID = """
[cluster.east]
[cluster.west]
[[link]]
between = ["east", "west"]
rate = "800 Mbit/s"
rtt = "40 ms"
{more}
"""
SOURCE = Path(__file__).parent / "topology" / "tell.c"


@pytest.fixture(params=mpis.TESTED)
def library(request) -> mpis.Mpi:
    return mpis.ALL[request.param]


@pytest.fixture
def tell(isthmus, library: mpis.Mpi, programs: Path) -> Path:
    flags = isthmus("config", "--cflags").stdout.split()
    out = programs / f"tell-{library.name}"
    return mpis.compile_to(out, library.cc, "-Wall", "-Werror", *flags, SOURCE)


ALONE = (
    "clusters 1; number 1; world at 0; members 2; name '{}'; rank 1 in 0; size 2; way 0; "
    "latency 0; rate 0\n"
)
RUN_AS_ROOT = ("env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")


def test_without_isthmus_there_is_one_cluster(library: mpis.Mpi, tell: Path) -> None:
    more = ["--oversubscribe"] if library.name.startswith("openmpi") else []
    done = ran([*RUN_AS_ROOT, library.mpirun, *more, "-n", "2", tell])
    assert (done.stdout, done.returncode) == (ALONE.format(""), 0), done.stderr


def test_a_run_on_one_cluster_knows_its_name(isthmus, tell: Path) -> None:
    done = isthmus("run", "--on", "east", "-n", 2, tell)
    assert (done.stdout, done.returncode) == (ALONE.format("east"), 0), done.stderr


@pytest.mark.parametrize(
    ("more", "way"), [("", 1), ('reach = "gateway"', 2), ('reach = "direct"', 1)]
)
def test_links_are_as_the_grid_file_has_them(isthmus, grid_with, tell: Path, more, way):
    grid = grid_with(GRID.format(more=more))
    done = isthmus("run", "-g", grid, "-n", 3, tell)
    assert done.stdout == (
        "clusters 2; number 2; world at 1; members 2; name 'east'; rank 1 in 0; size 2; "
        f"way {way}; latency 0.02; rate 1e+08\n"
    ), done.stderr


def test_each_link_has_its_own_figures(isthmus, tmp_path: Path, tell: Path) -> None:
    grid = tmp_path / "grid.toml"
    third = """
[cluster.north]
[[link]]
between = ["north", "east"]
reach = "gateway"
rate = "80 Mbit/s"
rtt = "10 ms"
"""
    grid.write_text(GRID.format(more='reach = "gateway"') + third)
    done = isthmus("run", "-g", grid, "-n", 3, tell)
    assert "way 2; latency 0.005; rate 1e+07\n" in done.stdout, done.stdout + done.stderr
