/* CHECK(condition, format, ...): ends the run with a sentence where the condition is false. Define
   CHECKING before including this to print what the program is at, behind the rank. */
#ifndef CHECKING_H
#define CHECKING_H

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef CHECKING
#define CHECKING() ((void)0)
#endif

#define CHECK(condition, ...)                                               \
  do {                                                                      \
    if (!(condition)) {                                                     \
      int rank_ = -1;                                                       \
      MPI_Comm_rank(MPI_COMM_WORLD, &rank_);                                \
      fprintf(stderr, "%s:%d: world rank %d: ", __FILE__, __LINE__, rank_); \
      CHECKING();                                                           \
      fprintf(stderr, __VA_ARGS__);                                         \
      fprintf(stderr, "\n");                                                \
      MPI_Abort(MPI_COMM_WORLD, 1);                                         \
    }                                                                       \
  } while (0)

static inline int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

/* Whether those who are `in` are in several clusters; collective, and all say the same. */
static inline int span_clusters(MPI_Comm comm, int in) {
  const char* name = getenv("ISTHMUS_CLUSTER");
  long mine[2] = {0, 0}, most[2];
  for (; name != NULL && *name != 0; ++name) mine[0] = (mine[0] * 131 + *name) % 1000003;
  mine[1] = -mine[0];
  if (!in) mine[0] = mine[1] = LONG_MIN;
  MPI_Allreduce(mine, most, 2, MPI_LONG, MPI_MAX, comm);
  return most[0] != -most[1];
}

/* The same of all members. Otherwise the native library is asked. It checks fewer arguments, or
   wrongly. */
static inline int spans_clusters(MPI_Comm comm) { return span_clusters(comm, 1); }

#endif
