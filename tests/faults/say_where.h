/* Programs whose ranks are found by a file of each. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

/* Writes the process id into a file of `folder` that the rank names. */
static inline void say_where(const char* folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  FILE* file = fopen(path, "w");
  if (!file) MPI_Abort(MPI_COMM_WORLD, 9);
  fprintf(file, "%d", (int)getpid());
  fclose(file);
}
