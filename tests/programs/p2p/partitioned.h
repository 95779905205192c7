/* Whether all libraries of the run have partitioned communication (MPI-4.0; Open MPI 4.1 has not).
 */
#ifndef PARTITIONED_H
#define PARTITIONED_H

#include "../checking.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PARTITIONED 1
#else
#define HAS_PARTITIONED 0
#endif

static int rank, size;

/* After MPI_Init. */
static inline int all_have_it(void) {
  int mine = HAS_PARTITIONED, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all && rank == 0) printf("no partitioned communication in an MPI library of this run\n");
  return all;
}

static inline int finish(const char* name) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: passed on %d ranks\n", name, size);
  MPI_Finalize();
  return 0;
}

#endif
