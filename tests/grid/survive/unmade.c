/* Shrinks while the rank that is alone in its cluster has no native communicators left: all ranks
   have an error, and none waits for ever. When it has some again, so have they. unmade */
#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { MOST = 1 << 16 };
static MPI_Comm filling[MOST];

static int shrink(MPI_Comm comm, MPI_Comm* smaller) {
  MPI_Request request;
  int code = isthmus_comm_ishrink(comm, smaller, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int main(int argc, char** argv) {
  int rank, size, count = 0, one = 1, sum = 0;
  MPI_Comm comm, smaller = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (rank == size - 1) {
    while (count < MOST && MPI_Comm_dup(MPI_COMM_SELF, &filling[count]) == MPI_SUCCESS) ++count;
    CHECK(count < MOST, "the library has more than %d communicators", count);
  }
  CHECK(shrink(comm, &smaller) != MPI_SUCCESS, "it has been shrunk");
  CHECK(smaller == MPI_COMM_NULL, "there is a communicator");
  while (count > 0) MPI_Comm_free(&filling[--count]);
  CHECK(shrink(comm, &smaller) == MPI_SUCCESS, "it has not been shrunk");
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, smaller) == MPI_SUCCESS, "no sum");
  if (rank == 0) printf("%d of %d\n", sum, size);
  MPI_Comm_free(&smaller);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
