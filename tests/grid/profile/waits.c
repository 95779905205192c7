/* Calls that wait for the last rank. */
#include "awaited.h"

int main(int argc, char** argv) {
  int rank, size, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) {
    late("far");
    MPI_Send(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    here("far");
    MPI_Recv(&got, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    late("near");
    MPI_Send(&got, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  }
  if (rank == 1) {
    here("near");
    MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (argc > 2 && rank == 0) MPI_Send(&got, 1, MPI_INT, size, 3, MPI_COMM_WORLD);
  if (argc > 1 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (argc > 1) pause();
  MPI_Finalize();
  return 0;
}
