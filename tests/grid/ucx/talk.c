/* Everybody sends to the next rank forever; after ten turns each prints its rank and process. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { kBytes = 300000 };

static char out[kBytes], in[kBytes];

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int turn = 0;; ++turn) {
    MPI_Sendrecv(out, kBytes, MPI_BYTE, (rank + 1) % size, 0, in, kBytes, MPI_BYTE, MPI_ANY_SOURCE,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (turn == 10) {
      printf("%d %d\n", rank, (int)getpid());
      fflush(stdout);
    }
  }
}
