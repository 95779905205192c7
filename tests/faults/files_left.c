/* Opens a file, moves its shared pointer, and waits to be killed. The file is deleted on close with
   a second argument. If this is a cluster, only the last rank opens the file, and in that cluster.
   A third argument says how rank 0 ends. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_File file;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  if (argc > 2) mode |= MPI_MODE_DELETE_ON_CLOSE;
  MPI_Info info = MPI_INFO_NULL;
  int size, alone = argc > 2 && argv[2][0];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (alone) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "isthmus_home", argv[2]);
  }
  if (!alone || rank == size - 1) {
    MPI_File_open(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, argv[1], mode, info, &file);
    MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("open\n"), fflush(stdout);
  if (argc > 3 && rank == 0) {
    if (strcmp(argv[3], "aborts") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(argv[3], "exits") == 0) _exit(7);
    raise(SIGKILL);
  }
  while (1) pause();
}
