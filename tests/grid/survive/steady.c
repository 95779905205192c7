/* Checks sums over all living ranks until the file FOLDER/bell exists. Survivors revoke, shrink and
   go on. Each rank writes its process id to the file of its rank in FOLDER. steady FOLDER */
#include <stdint.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

static int rank;

static void write_id(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  FILE* const file = fopen(path, "w");
  CHECK(file, "%s cannot be written", path);
  fprintf(file, "%d", (int)getpid());
  fclose(file);
}

/* On return, all living ranks have the same step. */
static void repair(MPI_Comm* comm, int64_t* step) {
  int code;
  do {
    MPI_Comm smaller;
    const int64_t first = *step;
    CHECK(isthmus_comm_revoke(*comm) == MPI_SUCCESS, "it cannot be revoked");
    CHECK(isthmus_comm_shrink(*comm, &smaller) == MPI_SUCCESS, "it cannot be shrunk");
    MPI_Comm_free(comm);
    *comm = smaller;
    code = MPI_Allreduce(&first, step, 1, MPI_INT64_T, MPI_MIN, *comm);
    if (code != MPI_SUCCESS) *step = first;
  } while (code != MPI_SUCCESS);
}

int main(int argc, char** argv) {
  char bell[4096];
  int size, before;
  int64_t step = 0, sums[2] = {0, 0};
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(bell, sizeof bell, "%s/bell", argv[1]);
  write_id(argv[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_size(comm, &before);
  MPI_Barrier(comm);
  if (rank == 0) printf("up\n");
  fflush(stdout);
  for (; sums[1] == 0; ++step) {
    const int64_t mine[2] = {1, step % 16 == 0 && access(bell, F_OK) == 0};
    MPI_Comm_size(comm, &size);
    const int code = MPI_Allreduce(mine, sums, 2, MPI_INT64_T, MPI_SUM, comm);
    if (code == MPI_SUCCESS) {
      CHECK(sums[0] == size, "the sum is %d of %d", (int)sums[0], size);
      continue;
    }
    const int class = class_of(code);
    CHECK(class == ISTHMUS_ERR_PROC_FAILED || class == ISTHMUS_ERR_REVOKED, "class %d", class);
    repair(&comm, &step);
    sums[1] = 0;
  }
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) printf("%d of %d ranks\n", size, before);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
