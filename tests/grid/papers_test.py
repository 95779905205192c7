"""Ranks load the algorithms of papers from a library of the lab, and find them by name."""

from __future__ import annotations

from pathlib import Path

import mpis

from isthmus_lab.lab.programs import find_papers

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>

static int words[30000], sums[30000];

int main(int argc, char** argv) {
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 30000; ++i) words[i] = rank == 1 ? i : 0;
    MPI_Bcast(words, 30000, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allreduce(words, sums, 30000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 30000; ++i) wrong += words[i] != i || sums[i] != 4 * i;
    printf("%d wrong\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


def test_an_algorithm_of_a_paper_is_loaded_and_chosen(isthmus, tmp_path, monkeypatch) -> None:
    program = mpis.ALL["openmpi4"].build_text(PROGRAM, tmp_path / "program")
    monkeypatch.setenv("ISTHMUS_COLL", "bcast=van-de-geijn-wan,allreduce=rabenseifner-wan")
    refused = isthmus("run", "-n", "4", program, timeout=240)
    assert refused.returncode != 0
    assert "'van-de-geijn-wan' is not an algorithm of bcast" in refused.stderr.replace('"', "'")
    monkeypatch.setenv("ISTHMUS_DEBUG_ALGORITHMS", str(find_papers()))
    done = isthmus.well("run", "--stats", "-n", "4", program)
    assert done.stdout.count("0 wrong\n") == 4
    assert "van-de-geijn-wan" in done.stderr
    assert "rabenseifner-wan" in done.stderr


def test_a_library_that_is_missing_is_named(isthmus, tmp_path: Path, monkeypatch) -> None:
    program = mpis.ALL["openmpi4"].build_text(PROGRAM, tmp_path / "program")
    monkeypatch.setenv("ISTHMUS_DEBUG_ALGORITHMS", str(tmp_path / "none.so"))
    done = isthmus("run", "-n", "4", program, timeout=240)
    assert done.returncode != 0
    assert "ISTHMUS_DEBUG_ALGORITHMS cannot be used" in done.stderr
    assert "none.so" in done.stderr
