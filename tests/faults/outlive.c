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
  if (rank == 0) {
    printf("up %d\n", size);
    fflush(stdout);
  }
  snprintf(path, sizeof path, "%s/bell", argv[1]);
  while (access(path, F_OK) != 0) usleep(10000);
  MPI_Finalize();
  return 0;
}
