/* Shared by the programs of sessions. */
#ifndef SESSIONS_H
#define SESSIONS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition, ...)                                             \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: rank %s: ", __FILE__, __LINE__, my_rank()); \
      fprintf(stderr, __VA_ARGS__);                                       \
      fprintf(stderr, "\n");                                              \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

static inline const char* my_rank(void) { return getenv("ISTHMUS_RANK"); }

/* The communicator of a process set. Collective over it. */
static inline MPI_Comm comm_of(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS, "no group of %s", set);
  CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
            MPI_SUCCESS,
        "no communicator of %s", set);
  MPI_Group_free(&group);
  return comm;
}

/* The whole grid is in it, in order, and speaks. */
static inline void prove_world(MPI_Comm comm) {
  int rank = -1, size = -1, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK(rank == atoi(my_rank()), "rank %d", rank);
  CHECK(size == atoi(getenv("ISTHMUS_SIZE")), "size %d", size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int got = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &got, 1, MPI_INT, previous, 0, comm, MPI_STATUS_IGNORE);
  CHECK(got == previous, "got %d from %d", got, previous);
}

/* Only the clusters' own ranks are in it. */
static inline void prove_cluster(MPI_Comm comm) {
  char mine[64] = "", other[64] = "";
  int size = 0;
  MPI_Comm_size(comm, &size);
  strncpy(mine, getenv("ISTHMUS_CLUSTER"), sizeof mine - 1);
  memcpy(other, mine, sizeof mine);
  MPI_Bcast(other, sizeof other, MPI_CHAR, size - 1, comm);
  CHECK(strcmp(mine, other) == 0, "%s and %s in one cluster", mine, other);
}

#endif
