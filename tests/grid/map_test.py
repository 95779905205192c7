"""Runs under a rank map: messages for users have the ranks of the map, and topologies with reorder
improve a bad map. Programs of the suite run under maps in programs_test."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest

ALTERNATING = "0-{last}:2 west\n1-{last}:2 east\n"
SOURCE = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  int rank, size, value, flag, *appnum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
  if (strcmp(argv[1], "tell") == 0)
    printf("rank %d of %d is %s at %s, part %d\n", rank, size, getenv("ISTHMUS_RANK"),
           getenv("ISTHMUS_CLUSTER"), flag ? *appnum : -1);
  if (strcmp(argv[1], "read") == 0 && rank == 0 && scanf("%d", &value) == 1)
    printf("rank 0 reads %d\n", value);
  if (strcmp(argv[1], "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  if (strcmp(argv[1], "die") == 0 && rank == 1) raise(SIGKILL);
  if (strcmp(argv[1], "wait") == 0)
    MPI_Recv(&value, 1, MPI_INT, rank < 3 ? rank + 1 : MPI_ANY_SOURCE, rank, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mpis.ALL["mpich4"].build_text(SOURCE, tmp_path_factory.mktemp("map") / "program")


@pytest.fixture
def alternating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISTHMUS_REACH", "gateway")
    path = tmp_path / "ranks.map"
    path.write_text(ALTERNATING.format(last=3))
    return path


def test_ranks_are_where_the_map_says(isthmus, program: Path, alternating: Path) -> None:
    words = ["-n", 3, program, "tell", ":", program, "tell"]
    done = isthmus.well("run", "--map", alternating, "--tag-output", "--show-ranks", *words)
    places = [("west", 0), ("east", 0), ("west", 0), ("east", 1)]
    assert sorted(done.stdout.splitlines()) == [
        f"[{rank}] rank {rank} of 4 is {rank} at {cluster}, part {part}"
        for rank, (cluster, part) in enumerate(places)
    ]
    assert sorted(re.findall(r"isthmus: rank (\d)", done.stderr)) == ["0", "1", "2", "3"]


def test_files_have_the_ranks_of_the_map(isthmus, program: Path, alternating: Path) -> None:
    pattern = alternating.parent / "out.%r"
    assert isthmus("run", "--map", alternating, "-o", pattern, program, "tell").returncode == 0
    for rank in range(4):
        said = (alternating.parent / f"out.{rank}").read_text()
        assert said.startswith(f"rank {rank} of 4 is {rank} at {'east' if rank % 2 else 'west'}")


def test_standard_input_is_rank_0s(isthmus, program: Path, alternating: Path) -> None:
    done = isthmus("run", "--map", alternating, program, "read", input="42\n")
    assert done.stdout == "rank 0 reads 42\n", done.stderr


def test_whoever_aborts_is_named_by_the_map(isthmus, program: Path, alternating: Path) -> None:
    done = isthmus("run", "--map", alternating, program, "abort")
    assert done.returncode == 3
    assert "rank 1 called MPI_Abort with code 3" in done.stderr


def test_whoever_is_lost_is_named_by_the_map(isthmus, program: Path, alternating: Path) -> None:
    done = isthmus("run", "--map", alternating, program, "die")
    assert done.returncode != 0
    named = re.findall(r'rank (\d) \(cluster "(\w+)"\)', done.stderr)
    assert set(named) <= {("1", "east")}, done.stderr


def test_those_who_wait_are_named_by_the_map(isthmus, program: Path, alternating: Path) -> None:
    done = isthmus("run", "--timeout", 6, "--map", alternating, program, "wait")
    assert done.returncode == 124
    for rank in range(3):
        said = rf"rank {rank} \(.*: MPI_Recv from rank {rank + 1} with tag {rank},"
        assert re.search(said, done.stderr), done.stderr
    assert re.search(r"rank 3 \(.*: MPI_Recv from any rank with tag 3,", done.stderr)


def test_python_is_told_the_ranks_of_clusters(isthmus, programs, alternating: Path) -> None:
    source = """
import isthmus_topology as topology
if topology.MPI.COMM_WORLD.rank == 3:
    print([(cluster.name, list(cluster.ranks)) for cluster in topology.clusters()])
"""
    words = ["-x", f"PYTHONPATH={mpis.ROOT / 'include'}", mpis.ALL["mpich5"].python, "-c", source]
    done = isthmus("run", "--map", alternating, *words)
    assert done.stdout == "[('west', [0, 2]), ('east', [1, 3])]\n", done.stderr


def test_a_map_of_one_cluster_changes_nothing(isthmus, program: Path, tmp_path: Path) -> None:
    path = tmp_path / "ranks.map"
    path.write_text("0-1 west")
    done = isthmus("run", "--map", path, program, "tell")
    assert sorted(done.stdout.splitlines()) == [
        f"rank {rank} of 2 is {rank} at west, part 0" for rank in range(2)
    ]


# The fewest cut edges of the grids and rings that the program makes of 16 ranks. They are 4 x 4,
# the same with one periodic dimension, and a ring as a graph and twice as a distributed one.
BEST = {"cart": [4, 4], "graph": [2], "distributed": [2, 2]}


@pytest.mark.parametrize(
    ("library", "asked"), [("mpich4", "by a key"), ("openmpi4", "by a key"), ("mpich4", "by run")]
)
def test_reorder_mends_a_bad_order(
    isthmus, programs, tmp_path: Path, library: str, asked: str
) -> None:
    path = tmp_path / "ranks.map"
    path.write_text(ALTERNATING.format(last=15))
    built = mpis.ALL[library].build(mpis.PROGRAMS / "topology" / "reorder.c", programs)
    words = ["--reorder", built, "the run asks"] if asked == "by run" else [built]
    done = isthmus.well("run", "--map", path, *words)
    after: dict[str, list[int]] = {}
    for what, before, now in re.findall(r"(\w+) (\d+) -> (\d+)", done.stdout):
        assert int(before) >= int(now)
        after.setdefault(what, []).append(int(now))
    assert after.keys() == BEST.keys()
    for what, best in BEST.items():
        assert all(a <= 1.1 * b for a, b in zip(after[what], best, strict=True)), done.stdout
