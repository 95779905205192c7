/* Each rank exits without MPI_Finalize, after a child of it has exited. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, size, status = 1, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size,
               1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const pid_t child = fork();
  if (child == 0) exit(3);
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) _exit(4);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) pause();
  exit(5);
}
