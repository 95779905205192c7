/* Goes wrong on purpose: faults MODE [RANK]. Prints "up" from rank 0 when all have joined. If MODE
   is fine and a file is named after RANK, all continue when that file exists. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "fine";
  const int chosen = argc > 2 ? atoi(argv[2]) : 0;
  int rank, size, value = 0;
  if (!strcmp(mode, "no-init")) return 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("up %d\n", size);
    fflush(stdout);
  }
  while (argc > 3 && rank == chosen && access(argv[3], F_OK) != 0) usleep(10000);
  if (rank == chosen) {
    if (!strcmp(mode, "abort")) MPI_Abort(MPI_COMM_WORLD, 42);
    if (!strcmp(mode, "kill")) raise(SIGKILL);
    if (!strcmp(mode, "segv")) raise(SIGSEGV);
    if (!strcmp(mode, "exit")) _exit(0);
    if (!strcmp(mode, "exit-5")) _exit(5);
  }
  if (!strcmp(mode, "all-exit")) exit(0);
  if (strcmp(mode, "fine")) { /* a message that never comes */
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
