"""Reductions in one order over ranks: the same bits wherever ranks are, and whatever MPI they use.
programs/coll/reproducible.c computes that order itself; with the word "asked" the run asks for it.
"""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest

THREE = "reproducible = true\n[cluster.a]\n[cluster.b]\n[cluster.c]\n"
MAPS = {
    "alternating": "0-4:2 west\n1-4:2 east\n",
    "odd": "0 west\n1-3 east\n4 west\n",
}
PROGRAM = mpis.PROGRAMS / "coll" / "reproducible.c"


def parts(programs: Path, where: dict[str, str]) -> list[object]:
    """One rank or more for each cluster, five together."""
    found: dict[str, tuple[object, ...]] = {}
    left = 5
    for number, (cluster, library) in enumerate(where.items()):
        count = left if number == len(where) - 1 else max(1, 5 // len(where))
        left -= count
        built = mpis.ALL[library].build(PROGRAM, programs)
        found[cluster] = (count, built, "asked")
    return mpis.on(**found)


def sums(done) -> str:
    assert done.returncode == 0, done.stderr[-4000:]
    (found,) = re.findall(r"the sums are (\w+)", done.stdout)
    return found


# That of one cluster of Open MPI, for all others to compare with.
@pytest.fixture(scope="module")
def known() -> dict[str, str]:
    return {}


def compare(known: dict[str, str], found: str) -> None:
    assert found == known.setdefault("sums", found)


@pytest.mark.parametrize(
    "where",
    [
        {"east": "openmpi4"},
        {"east": "mpich4"},
        {"east": "mpich4", "west": "openmpi4"},
        {"west": "openmpi5", "east": "openmpi5"},
    ],
)
def test_one_cluster_and_two(isthmus, programs, known, where: dict[str, str]) -> None:
    compare(known, sums(isthmus("run", "--reproducible", *parts(programs, where))))


@pytest.mark.parametrize("name", MAPS)
def test_maps(isthmus, programs, known, tmp_path: Path, name: str) -> None:
    path = tmp_path / "ranks.map"
    path.write_text(MAPS[name])
    built = mpis.ALL["mpich5"].build(PROGRAM, programs)
    compare(known, sums(isthmus("run", "--reproducible", "--map", path, built, "asked")))


def test_three_clusters_of_a_grid_file(isthmus, programs, known, grid_with) -> None:
    path = grid_with(THREE)
    words = parts(programs, {"a": "openmpi4", "b": "mpich4", "c": "openmpi4"})
    compare(known, sums(isthmus("run", "-g", path, *words)))


def test_a_key_with_another_value_is_refused(isthmus, tmp_path: Path) -> None:
    program = """
from mpi4py import MPI
info = MPI.Info.Create()
info.Set("isthmus_reproducible", "yes")
for comm in (MPI.COMM_WORLD, MPI.COMM_SELF.Dup()):
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        comm.Set_info(info)
    except MPI.Exception as failure:
        assert failure.Get_error_class() == MPI.ERR_INFO_VALUE
        print(failure.Get_error_string())
"""
    done = isthmus.well("run", "-n", 2, mpis.ALL["mpich5"].python, "-c", program)
    assert done.stdout.count('isthmus_reproducible is "yes"; it can be "true" or "false"') == 4
