/* outlive FOLDER: each rank writes its process id into a file there that its rank names, and ends
   when the file "bell" exists. Prints "up" from rank 0 when all have joined. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char path[4096];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(path, sizeof path, "%s/%d", argv[1], rank);
  FILE* file = fopen(path, "w");
  if (!file) MPI_Abort(MPI_COMM_WORLD, 9);
  fprintf(file, "%d", (int)getpid());
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) { /* all others have left the barrier, too, which needs all */
    for (int r = 1; r < size; ++r)
      MPI_Recv(&size, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("up %d\n", size);
    fflush(stdout);
  } else {
    MPI_Send(&size, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  snprintf(path, sizeof path, "%s/bell", argv[1]);
  while (access(path, F_OK) != 0) usleep(10000);
  MPI_Finalize();
  return 0;
}
