/* Shared by the point-to-point programs. Each runs natively, too. */
#ifndef P2P_H
#define P2P_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../checking.h"

#define WORLD MPI_COMM_WORLD

static int rank, size;

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  CHECK(size >= 2, "this program needs at least two ranks");
}

/* The program can end only when all have come here: a barrier of messages, so that these programs
   depend on point to point alone. */
static inline void all_here(int tag) {
  char c = 0;
  if (rank == 0) {
    for (int r = 1; r < size; ++r) MPI_Recv(&c, 1, MPI_CHAR, r, tag, WORLD, MPI_STATUS_IGNORE);
    for (int r = 1; r < size; ++r) MPI_Send(&c, 1, MPI_CHAR, r, tag, WORLD);
  } else {
    MPI_Send(&c, 1, MPI_CHAR, 0, tag, WORLD);
    MPI_Recv(&c, 1, MPI_CHAR, 0, tag, WORLD, MPI_STATUS_IGNORE);
  }
}

static inline int finish(const char* name) {
  all_here(32000);
  if (rank == 0) printf("%s: passed on %d ranks\n", name, size);
  MPI_Finalize();
  return 0;
}

static inline void check_status(const MPI_Status* status, int source, int tag, int count,
                                MPI_Datatype type, const char* what) {
  int n = -1, cancelled = -1;
  MPI_Get_count(status, type, &n);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(status->MPI_SOURCE == source, "%s: status says source %d, expected %d", what,
        status->MPI_SOURCE, source);
  CHECK(status->MPI_TAG == tag, "%s: status says tag %d, expected %d", what, status->MPI_TAG, tag);
  CHECK(n == count, "%s: status says count %d, expected %d", what, n, count);
  CHECK(!cancelled, "%s: status says cancelled", what);
}

/* Element i of the message `number` from one rank to another. */
static inline int element(int from, int to, int number, int i) {
  return from * 7919 + to * 104729 + number * 31 + i;
}
static inline void fill(int* data, int n, int from, int to, int number) {
  for (int i = 0; i < n; ++i) data[i] = element(from, to, number, i);
}
static inline void check_data(const int* data, int n, int from, int to, int number,
                              const char* what) {
  for (int i = 0; i < n; ++i)
    CHECK(data[i] == element(from, to, number, i), "%s: element %d from rank %d is %d, expected %d",
          what, i, from, data[i], element(from, to, number, i));
}

#endif
