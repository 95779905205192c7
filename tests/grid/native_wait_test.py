"""A rank that waits only for ranks of its own cluster lets its native library wait in its own way.
Libraries that labs preload so that ranks yield stay in effect then."""

from __future__ import annotations

from pathlib import Path

import mpis

# The program itself is what labs preload, as far as Isthmus sees: it counts who withholds. The last
# rank of the first cluster does not come before the first rank has been let be.
PROGRAM = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int withheld, inside;
static const char* met;

void isthmus_nospin_withhold(int more) { withheld += more; }

static void* look(void* unused) {
    (void)unused;
    while (withheld == 0) usleep(100);
    while (inside && withheld > 0) usleep(100);
    if (!inside) return NULL;
    fclose(fopen(met, "w"));
    return NULL;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    pthread_t looker;
    met = argv[1];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        inside = 1;
        pthread_create(&looker, NULL, look, NULL);
    }
    for (int i = 0; rank == 1 && access(met, F_OK) != 0 && i < 20000; ++i) usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    inside = 0;
    if (rank == 0) {
        pthread_join(looker, NULL);
        printf("%s\n", access(met, F_OK) == 0 ? "waited natively" : "withheld all the time");
    }
    MPI_Finalize();
    return 0;
}
"""


def test_a_wait_for_near_ranks_alone_is_the_native_librarys(isthmus, tmp_path: Path) -> None:
    source = tmp_path / "waits.c"
    source.write_text(PROGRAM)
    for name in "openmpi4", "mpich4":
        mpi = mpis.ALL[name]
        program = mpis.compile_to(tmp_path / name, mpi.cc, source, "-rdynamic", "-pthread")
        words = [program, tmp_path / f"{name}.met"]
        done = isthmus(
            "run", "--on", "east", "-n", "2", *words, ":", "--on", "west", "-n", "1", *words,
            timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout == "waited natively\n"
