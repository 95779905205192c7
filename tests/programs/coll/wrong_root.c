/* The root alone has wrong arguments, and errors return. The others have right ones, and the root
 * knows how long their blocks are: they go on, and the communicator serves as before. Natively it
 * does so where the others only send. ranks: 2 3 4 */
#include "../checking.h"

enum { kMost = 100000, kRoom = kMost + 4 };
static int rank, size, errors;
static int *mine, *all, *counts, *places;

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

/* The others have what the root had from the last gather. */
static void check_scattered(const char* what, int n, int root) {
  for (int i = 0; rank != root && i < n; ++i) {
    if (mine[i] == rank + 1) continue;
    fprintf(stderr, "%s of %d, rank %d: %d at %d\n", what, n, rank, mine[i], i);
    errors = 1;
    break;
  }
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  mine = calloc(kRoom, sizeof(int));
  all = calloc((size_t)kRoom * (size_t)size, sizeof(int));
  counts = calloc((size_t)size, sizeof(int));
  places = calloc((size_t)size, sizeof(int));
  const int spans = spans_clusters(comm);
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
    code = MPI_Gather(mine, n, type, all, n, MPI_INT, root, comm);
    check("MPI_Gather of no datatype", n, root, code, MPI_ERR_TYPE, comm);
    for (int r = 0; r < size; ++r) {
      counts[r] = n + r;
      places[r] = r * kRoom;
    }
    const int own = n + rank, wrong = rank == root ? -1 : own;
    code = MPI_Gatherv(mine, wrong, MPI_INT, all, counts, places, MPI_INT, root, comm);
    check("MPI_Gatherv of a negative count", n, root, code, MPI_ERR_COUNT, comm);
    code = MPI_Igatherv(mine, own, type, all, counts, places, MPI_INT, root, comm, &request);
    if (rank != root) MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("MPI_Igatherv of no datatype", n, root, code, MPI_ERR_TYPE, comm);
    if (!spans) continue;
    for (int i = 0; i < n; ++i) mine[i] = 0;
    code = MPI_Scatter(all, n, MPI_INT, mine, rank == root ? -1 : n, MPI_INT, root, comm);
    check_scattered("MPI_Scatter to a negative count", n, root);
    check("MPI_Scatter to a negative count", n, root, code, MPI_ERR_COUNT, comm);
    code = MPI_Iscatterv(all, counts, places, MPI_INT, mine, own, type, root, comm, &request);
    if (rank != root) MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("MPI_Iscatterv to no datatype", n, root, code, MPI_ERR_TYPE, comm);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return errors;
}
