/* Every rank sends to every other at once, small and large; prints from rank 0 what was wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLarge = 2000000 };

static char byte(int from, int to, int i) { return (char)(from * 31 + to * 7 + i % 251); }

static int exchange(int rank, int size, int count) {
  MPI_Request* requests = malloc(2 * size * sizeof *requests);
  char* out = malloc((size_t)size * count);
  char* in = calloc(size, count);
  int pending = 0, wrong = 0;
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    char* to = out + (size_t)other * count;
    for (int i = 0; i < count; ++i) to[i] = byte(rank, other, i);
    MPI_Irecv(in + (size_t)other * count, count, MPI_CHAR, other, 7, MPI_COMM_WORLD,
              &requests[pending++]);
    MPI_Isend(to, count, MPI_CHAR, other, 7, MPI_COMM_WORLD, &requests[pending++]);
  }
  MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
  for (int other = 0; other < size; ++other) {
    for (int i = 0; other != rank && i < count; ++i) {
      wrong += in[(size_t)other * count + i] != byte(other, rank, i);
    }
  }
  free(in);
  free(out);
  free(requests);
  return wrong;
}

int main(int argc, char** argv) {
  int rank, size, wrong = 0, total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  wrong += exchange(rank, size, 1);
  wrong += exchange(rank, size, kLarge);
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d bytes wrong\n", size, total);
  MPI_Finalize();
  return 0;
}
