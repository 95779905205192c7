/* The root alone has wrong arguments for what it is to receive, and errors return. The others only
 * send, so as natively they go on, and the communicator serves as before. ranks: 2 3 4 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 100000 };
static int rank, size, errors;
static int *mine, *all;

static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

static void check(const char* what, int n, int root, int code, int wanted, MPI_Comm comm) {
  const int expected = rank == root ? wanted : MPI_SUCCESS;
  if (class_of(code) != expected) {
    fprintf(stderr, "%s of %d, rank %d: class %d, not %d\n", what, n, rank, class_of(code),
            expected);
    errors = 1;
  }
  /* All kinds of collectives are in step. */
  for (int i = 0; i < n; ++i) mine[i] = rank + 1;
  int sum = 0, one = 1;
  code = MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, root, comm);
  for (int i = 0; rank == root && i < n * size; ++i) {
    if (all[i] == i / n + 1) continue;
    fprintf(stderr, "%s of %d: then MPI_Gather has %d at %d\n", what, n, all[i], i);
    errors = 1;
    break;
  }
  if (code != MPI_SUCCESS || MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS ||
      sum != size || MPI_Barrier(comm) != MPI_SUCCESS) {
    fprintf(stderr, "%s of %d, rank %d: the communicator serves no more\n", what, n, rank);
    errors = 1;
  }
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  mine = calloc(kMost, sizeof(int));
  all = calloc((size_t)kMost * (size_t)size, sizeof(int));
  const int lengths[] = {1, 100, kMost};
  for (int k = 0; k < 9; ++k) { /* at first by messages, later by memory that ranks share */
    const int n = lengths[k % 3], root = k % size;
    const MPI_Datatype type = rank == root ? MPI_DATATYPE_NULL : MPI_INT;
    int code = MPI_Gather(mine, n, MPI_INT, all, n, type, root, comm);
    check("MPI_Gather to no datatype", n, root, code, MPI_ERR_TYPE, comm);
    code = MPI_Gather(mine, n, MPI_INT, all, rank == root ? -1 : n, MPI_INT, root, comm);
    check("MPI_Gather to a negative count", n, root, code, MPI_ERR_COUNT, comm);
    code = MPI_Reduce(mine, MPI_IN_PLACE, n, MPI_INT, MPI_SUM, root, comm);
    check("MPI_Reduce to MPI_IN_PLACE", n, root, code, MPI_ERR_BUFFER, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    code = MPI_Igather(mine, n, MPI_INT, all, n, type, root, comm, &request);
    if (rank != root) MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("MPI_Igather to no datatype", n, root, code, MPI_ERR_TYPE, comm);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return errors;
}
