/* Opens a file that is to be deleted on close, moves its shared pointer, and waits to be killed. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_File file;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  if (argc > 2) mode |= MPI_MODE_DELETE_ON_CLOSE;
  MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file);
  MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("open\n"), fflush(stdout);
  while (1) pause();
}
