/* Pingpong between two ranks of MPI_COMM_WORLD: half round trips, in microseconds.
 * Usage: pingpong PEER BYTES ROUNDS DONE. Rank 0 plays with rank PEER and prints one line per
 * batch: the batch's mean. Ten batches follow one that is not counted. The others sleep until rank
 * 0 has made the file DONE: ranks that wait inside MPI take processor time from the players if
 * cores are few. Natively a third rank in MPI_Barrier costs 2 to 4 times (2026-11). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kNap = 50000 }; /* microseconds */

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 5) {
    if (rank == 0) fprintf(stderr, "usage: pingpong PEER BYTES ROUNDS DONE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int peer = atoi(argv[1]), bytes = atoi(argv[2]), rounds = atoi(argv[3]);
  char* buffer = malloc((size_t)bytes + 1);
  memset(buffer, rank, (size_t)bytes + 1);
  const int plays = rank == 0 || rank == peer;
  while (!plays && access(argv[4], F_OK) != 0) usleep(kNap);
  for (int batch = 0; plays && batch <= 10; ++batch) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
      if (rank == 0) {
        MPI_Send(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      }
    }
    if (rank == 0 && batch > 0) printf("%.4f\n", (MPI_Wtime() - start) / rounds / 2 * 1e6);
  }
  if (rank == 0) fclose(fopen(argv[4], "w"));
  free(buffer);
  MPI_Finalize();
  return 0;
}
