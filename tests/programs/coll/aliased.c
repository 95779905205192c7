/* Send buffers that are the receive buffer, or this rank's block of it, without MPI_IN_PLACE. MPI
   forbids them, but programs use them: MPICH refuses those that it detects. With Open MPI the
   result is that of MPI_IN_PLACE. Natively Open MPI refuses some of these, computes some wrongly,
   and stands still in others. If the program has an argument, only some ranks refuse one call. The
   others depend on them, and get an error, too; with "fatal" that ends the run. ranks: 3 4 */
#include <string.h>

#include "../checking.h"

enum { MOST = 8, LARGE = 30000 };

static int rank, size, n, refuses;
static int *a, counts[MOST], places[MOST];
static MPI_Datatype types[MOST];
static MPI_Comm comm;
static MPI_Request request;

/* `code` is that of a call that has begun or ended, `right` says whether its result is. */
static void judge(int code, int (*right)(void), const char* what) {
  int class = class_of(code);
  if (class == MPI_SUCCESS && request != MPI_REQUEST_NULL)
    class = class_of(MPI_Wait(&request, MPI_STATUS_IGNORE));
  const int expected = refuses ? MPI_ERR_BUFFER : MPI_SUCCESS;
  CHECK(class == expected, "%s of %d: class %d, not %d", what, n, class, expected);
  CHECK(refuses || right(), "%s of %d is wrong", what, n);
}

static void set(int value) {
  request = MPI_REQUEST_NULL;
  for (int i = 0; i < n * size; ++i) a[i] = value;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static int numbered(void) {
  for (int i = 0; i < n * size; ++i)
    if (a[i] != i / n) return 0;
  return 1;
}
static int own(void) {
  for (int i = 0; i < n; ++i)
    if (a[rank * n + i] != 7) return 0;
  return 1;
}
static int at_root(void) { return rank != 0 || numbered(); }
static int sum(void) {
  for (int i = 0; i < n; ++i)
    if (a[i] != size) return 0;
  return 1;
}
static int sum_at_root(void) { return rank != 0 || sum(); }
static int prefix(void) {
  for (int i = 0; i < n; ++i)
    if (a[i] != rank + 1) return 0;
  return 1;
}
static int before(void) {
  for (int i = 0; i < n && rank > 0; ++i)
    if (a[i] != rank) return 0;
  return 1;
}

#define TRY(value, call, right) \
  do {                          \
    set(value);                 \
    judge(call, right, #call);  \
    MPI_Comm_free(&comm);       \
  } while (0)

/* A root that refuses leaves others without their data, and the run ends. */
static void rooted(void) {
  int* const mine = a + rank * n;
  TRY(rank, MPI_Gather(mine, n, MPI_INT, a, n, MPI_INT, 0, comm), at_root);
  TRY(rank, MPI_Gatherv(mine, n, MPI_INT, a, counts, places, MPI_INT, 0, comm), at_root);
  TRY(1, MPI_Reduce(a, a, n, MPI_INT, MPI_SUM, 0, comm), sum_at_root);
  TRY(7, MPI_Scatter(a, n, MPI_INT, mine, n, MPI_INT, 0, comm), own);
  TRY(7, MPI_Scatterv(a, counts, places, MPI_INT, mine, n, MPI_INT, 0, comm), own);
}

static void all(void) {
  int* const mine = a + rank * n;
  if (!refuses) rooted();
  TRY(rank, MPI_Allgather(mine, n, MPI_INT, a, n, MPI_INT, comm), numbered);
  TRY(rank, MPI_Iallgather(mine, n, MPI_INT, a, n, MPI_INT, comm, &request), numbered);
  TRY(rank, MPI_Allgatherv(mine, n, MPI_INT, a, counts, places, MPI_INT, comm), numbered);
  TRY(rank, MPI_Alltoall(a, n, MPI_INT, a, n, MPI_INT, comm), numbered);
  TRY(rank, MPI_Ialltoall(a, n, MPI_INT, a, n, MPI_INT, comm, &request), numbered);
  TRY(rank, MPI_Alltoallv(a, counts, places, MPI_INT, a, counts, places, MPI_INT, comm), numbered);
  TRY(1, MPI_Allreduce(a, a, n, MPI_INT, MPI_SUM, comm), sum);
  TRY(1, MPI_Iallreduce(a, a, n, MPI_INT, MPI_SUM, comm, &request), sum);
  TRY(1, MPI_Scan(a, a, n, MPI_INT, MPI_SUM, comm), prefix);
  TRY(1, MPI_Exscan(a, a, n, MPI_INT, MPI_SUM, comm), before);
  TRY(1, MPI_Reduce_scatter(a, a, counts, MPI_INT, MPI_SUM, comm), sum);
  TRY(1, MPI_Reduce_scatter_block(a, a, n, MPI_INT, MPI_SUM, comm), sum);
  for (int i = 0; i < size; ++i) places[i] *= (int)sizeof(int);
  TRY(rank, MPI_Alltoallw(a, counts, places, types, a, counts, places, types, comm), numbered);
}

/* One buffer for both. This is allowed, because no received byte replaces a sent one. */
static int apart(void) {
  for (int i = 0; i < size; ++i)
    if (a[2 * i + 1] != i) return 0;
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifndef OPEN_MPI
  refuses = 1;
#endif
  a = malloc(sizeof(int) * MOST * LARGE);
  if (argc > 1) {
    n = 3;
    set(rank);
    if (!strcmp(argv[1], "fatal")) MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    const int class = class_of(MPI_Alltoall(a, n, MPI_INT, a, n, MPI_INT, comm));
    CHECK(class == (refuses ? MPI_ERR_BUFFER : MPI_ERR_OTHER), "class %d", class);
    MPI_Comm_free(&comm);
  }
  int least, most;
  MPI_Allreduce(&refuses, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&refuses, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const int together = least == most && spans_clusters(MPI_COMM_WORLD);
  for (n = 3; together && n <= LARGE; n *= 10000) {
    for (int i = 0; i < size; ++i) counts[i] = n, places[i] = i * n, types[i] = MPI_INT;
    all();
  }
  int here[MOST], there[MOST];
  n = 2;
  for (int i = 0; i < size; ++i) counts[i] = 1, here[i] = 2 * i, there[i] = 2 * i + 1;
  set(rank);
  MPI_Alltoallv(a, counts, here, MPI_INT, a, counts, there, MPI_INT, comm);
  CHECK(apart() || !spans_clusters(MPI_COMM_WORLD), "blocks beside each other are wrong");
  MPI_Comm_free(&comm);
  free(a);
  MPI_Finalize();
  return 0;
}
