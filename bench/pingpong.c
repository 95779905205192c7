/* Pingpong between two ranks of MPI_COMM_WORLD: half round trips, in microseconds.
 * usage: pingpong PEER BYTES ROUNDS; rank 0 plays with rank PEER and prints one line per batch:
 * the batch's mean. Ten batches follow one that is not counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) {
    if (rank == 0) fprintf(stderr, "usage: pingpong PEER BYTES ROUNDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int peer = atoi(argv[1]), bytes = atoi(argv[2]), rounds = atoi(argv[3]);
  char* buffer = malloc((size_t)bytes + 1);
  memset(buffer, rank, (size_t)bytes + 1);
  for (int batch = 0; batch <= 10; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
      if (rank == 0) {
        MPI_Send(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank == peer) {
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      }
    }
    if (rank == 0 && batch > 0) printf("%.4f\n", (MPI_Wtime() - start) / rounds / 2 * 1e6);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
