/* Requests and replies of 8 bytes, one after the other, between rank 0 and the rank in the middle;
 * the others wait in a barrier.
 * Usage: replies ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int peer = size / 2;
  double word = 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < rounds && size > 1; ++i) {
    if (rank == 0) {
      MPI_Send(&word, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
      MPI_Recv(&word, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == peer) {
      MPI_Recv(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) printf("time: %.6f s\n", MPI_Wtime() - start);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
