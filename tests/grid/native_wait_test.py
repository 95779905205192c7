"""A rank that waits only for ranks of its own cluster lets its native library wait."""

from __future__ import annotations

from pathlib import Path

import mpis

# The native libraries spin, and Isthmus naps. The last rank of the first cluster comes when the
# first rank has spun for 50 ms without sleeping.
PROGRAM = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int inside;
static const char* met;
static pid_t waiter;

static long sleeps(void) {
    char path[64], line[128];
    long count = -1;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)waiter);
    FILE* file = fopen(path, "r");
    while (fgets(line, sizeof line, file)) sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    fclose(file);
    return count;
}

static long long computed(void) {
    char path[64];
    long long nanoseconds = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)waiter);
    FILE* file = fopen(path, "r");
    if (fscanf(file, "%lld", &nanoseconds) != 1) nanoseconds = 0;
    fclose(file);
    return nanoseconds;
}

static void* look(void* unused) {
    (void)unused;
    long slept = -1;
    long long since = 0;
    while (inside) {
        if (sleeps() != slept) {
            slept = sleeps();
            since = computed();
        } else if (computed() - since > 50000000) {
            fclose(fopen(met, "w"));
            return NULL;
        }
        usleep(5000);
    }
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
        waiter = gettid();
        pthread_create(&looker, NULL, look, NULL);
    }
    for (int i = 0; rank == 1 && access(met, F_OK) != 0 && i < 20000; ++i) usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    inside = 0;
    if (rank == 0) {
        pthread_join(looker, NULL);
        printf("%s\n", access(met, F_OK) == 0 ? "waited natively" : "slept all the time");
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
        done = isthmus.well("run", *mpis.on(east=(2, *words), west=(1, *words)))
        assert done.stdout == "waited natively\n"
