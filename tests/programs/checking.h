/* CHECK(condition, format, ...): ends the run with a sentence where the condition is false. Define
   CHECKING before including this to print what the program is at, behind the rank. */
#ifndef CHECKING_H
#define CHECKING_H

#include <mpi.h>
#include <stdio.h>

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

#endif
