/* Sends to itself; a tool that wraps MPI_Send says so. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int out = 42, in = 0, rank;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("received %d\n", in);
  MPI_Finalize();
  return 0;
}
