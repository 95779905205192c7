/* Each rank says on what machine it is; then a token goes round, which all add to. */
#include <mpi.h>
#include <stdio.h>
#include <sys/utsname.h>

int main(int argc, char** argv) {
  int rank, size, token = 0;
  struct utsname system;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uname(&system);
  printf("rank %d of %d: %s\n", rank, size, system.machine);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  token += rank + 1;
  MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("the token came back with %d\n", token);
  }
  MPI_Finalize();
  return 0;
}
