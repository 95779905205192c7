"""A run over a grid with inner grids. Each pair of ranks reaches each other through the clusters
of inner grids. Each rank knows its cluster's whole name."""

from __future__ import annotations

from pathlib import Path

import mpis

INNER = "[cluster.east]\nslots = 1\n[cluster.west]\nslots = 1\n"
OUTER = """
[grid.one]
file = "inner.toml"
[grid.two]
file = "inner.toml"
[[link]]
between = ["one.west", "two.east"]
"""
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int sum = 0;
    for (int other = 0; other < size; ++other) {
        int got = 0;
        MPI_Sendrecv(&rank, 1, MPI_INT, other, 1, &got, 1, MPI_INT, other, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sum += got;
    }
    int all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %s: %d\n", rank, getenv("ISTHMUS_CLUSTER"), all);
    MPI_Finalize();
    return 0;
}
"""

SETS = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    int sets = 0;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int i = 0; i < sets; ++i) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name, size = 0, rank = 0;
        MPI_Group members;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        if (strncmp(name, "isthmus://grid/", 15) != 0) continue;
        MPI_Group_from_session_pset(session, name, &members);
        MPI_Group_size(members, &size);
        MPI_Group_rank(members, &rank);
        printf("%s: %d, %s\n", name, size, rank == MPI_UNDEFINED ? "others" : "mine");
        MPI_Group_free(&members);
    }
    MPI_Group none;
    if (MPI_Group_from_session_pset(session, "isthmus://grid/on", &none) == MPI_SUCCESS)
        printf("there is a set of no grid\n");
    MPI_Session_finalize(&session);
    return 0;
}
"""


def test_ranks_of_inner_grids_are_one_world(isthmus, tmp_path: Path, grid_with) -> None:
    (tmp_path / "inner.toml").write_text(INNER)
    grid = grid_with(OUTER)
    program = mpis.ALL["mpich5"].build_text(PROGRAM, tmp_path / "all_pairs")
    done = isthmus.well("run", "-g", grid, "-n", "4", program)
    clusters = ["one.east", "one.west", "two.east", "two.west"]
    assert sorted(done.stdout.splitlines()) == [
        f"rank {rank} of {name}: 24" for rank, name in enumerate(clusters)
    ]


def test_process_sets_of_inner_grids(isthmus, tmp_path: Path, grid_with) -> None:
    (tmp_path / "inner.toml").write_text(INNER)
    (tmp_path / "two.toml").write_text(OUTER)
    grid = grid_with("[grid.nl]\nfile = 'two.toml'\n[cluster.x]\nslots = 1\n")
    program = mpis.ALL["mpich5"].build_text(SETS, tmp_path / "sets")
    done = isthmus.well("run", "-g", grid, "-n", "5", program)
    sets = {"nl": 4, "nl.one": 2, "nl.two": 2}
    assert sorted(done.stdout.splitlines()) == sorted(
        f"isthmus://grid/{name}: {size}, {whose}"
        for name, size in sets.items()
        for whose in ["mine"] * size + ["others"] * (5 - size)
    )


def test_process_sets_of_inner_grids_in_a_run_on_one_cluster(
    isthmus, tmp_path: Path, grid_with
) -> None:
    (tmp_path / "inner.toml").write_text(INNER)
    (tmp_path / "two.toml").write_text(OUTER)
    grid = grid_with("[grid.nl]\nfile = 'two.toml'\n[cluster.x]\nslots = 1\n")
    program = mpis.ALL["mpich5"].build_text(SETS, tmp_path / "sets")
    inner = isthmus("run", "-g", grid, "--on", "nl.two.west", "-n", "1", program, timeout=240)
    assert (inner.returncode, inner.stderr) == (0, "")
    assert inner.stdout.splitlines() == [
        "isthmus://grid/nl: 1, mine",
        "isthmus://grid/nl.two: 1, mine",
    ]
    outer = isthmus("run", "-g", grid, "--on", "x", "-n", "1", program, timeout=240)
    assert (outer.returncode, outer.stdout) == (0, ""), outer.stderr


def test_a_dot_in_the_name_of_a_cluster_makes_no_grid(isthmus, tmp_path: Path, grid_with) -> None:
    grid = grid_with('[cluster."on.east"]\nslots = 1\n[cluster."on.west"]\nslots = 1\n')
    program = mpis.ALL["mpich5"].build_text(SETS, tmp_path / "sets")
    for ranks in "2", "1":
        done = isthmus("run", "-g", grid, "-n", ranks, program, timeout=240)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
