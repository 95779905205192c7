/* The others are about to wait for the chosen rank, which does not come back. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, chosen;

static inline void begin(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  chosen = atoi(argv[2]);
}

static inline void last_call(void) {
  if (rank != chosen) {
    MPI_Send(NULL, 0, MPI_INT, chosen, 1, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < size; ++i)
    MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  raise(SIGKILL);
}
