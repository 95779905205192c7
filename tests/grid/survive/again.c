/* Communicators are revoked and shrunk again and again, without a failure. The program's own
 * messages are under way there, too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../include/isthmus.h"

int main(int argc, char** argv) {
  int rank, size, last;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 50;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm, shrunk;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, round, comm); /* nobody receives it */
    isthmus_comm_revoke(comm);
    if (isthmus_comm_shrink(comm, &shrunk) != MPI_SUCCESS) return 1;
    MPI_Allreduce(&rank, &last, 1, MPI_INT, MPI_MAX, shrunk);
    if (last != size - 1) return 2;
    MPI_Comm_free(&shrunk);
    MPI_Comm_free(&comm);
  }
  if (rank == 0) printf("%d rounds\n", rounds);
  MPI_Finalize();
  return 0;
}
