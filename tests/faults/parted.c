/* parted FOLDER: each rank writes its process id into a file there that its rank names. Then all add
   their ranks until the file "bell" exists. When clusters have failed, the others go on without
   them. The first rank of those that are left prints their number, and each rank the last sum. */
#include <isthmus.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "say_where.h"

static MPI_Comm comm = MPI_COMM_WORLD;

static void say_number(const char* word) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank != 0) return;
  printf("%s %d\n", word, size);
  fflush(stdout);
}

static void leave_the_failed(void) {
  MPI_Comm left;
  int good;
  do {
    good = isthmus_comm_shrink(comm, &left) == MPI_SUCCESS;
    isthmus_comm_agree(comm, &good);
  } while (!good);
  MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
  comm = left;
  say_number("left");
}

int main(int argc, char** argv) {
  char bell[4096];
  int world, sum = 0, size, rung = 0, turns = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &world);
  say_where(argv[1], world);
  snprintf(bell, sizeof bell, "%s/bell", argv[1]);
  while (!rung) {
    int rank, next = 0, good;
    MPI_Comm_rank(comm, &rank);
    int mine = rank == 0 && access(bell, F_OK) == 0;
    good = MPI_Allreduce(&mine, &next, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS &&
           MPI_Allreduce(&world, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS;
    if (!good) isthmus_comm_revoke(comm);
    isthmus_comm_agree(comm, &good);
    if (!good) {
      leave_the_failed();
      continue;
    }
    rung = next;
    if (turns++ == 0) say_number("up");
    usleep(2000);
  }
  MPI_Comm_size(comm, &size);
  printf("rank %d: sum %d of %d\n", world, sum, size);
  MPI_Finalize();
  return 0;
}
