/* A program with a function of its own, NAME, which the C library or OpenSSL has as well. */
#include <mpi.h>
#include <stdio.h>

static int called;
long NAME(int number);
long NAME(int number) {
  ++called;
  return number;
}

int main(int argc, char** argv) {
  int size, sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d, called %d\n", sum, size, called);
  MPI_Finalize();
  return 0;
}
