/* Collectives in which one rank alone has a wrong argument; several have one; all have one; or one
   rank calls what no other does. ranks: 2 3 4 */

#include "../wrong.h"

static MPI_Comm comm;
static int *mine, *all, *counts, *places;

static void in_step(void) {
  int one = 1, sum = 0;
  for (int i = 0; i < n; ++i) mine[i] = rank + 1;
  CHECK(MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, 0, comm) == MPI_SUCCESS, "after %s", doing);
  for (int i = 0; rank == 0 && i < n * size; ++i)
    CHECK(all[i] == i / n + 1, "after %s of %d, wrong %s: %d at %d", doing, n, flaws[flaw], all[i],
          i);
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size,
        "after %s of %d, rank %d with a wrong %s: sum %d", doing, n, wrong_rank, flaws[flaw], sum);
}

static void with_data(int root) {
  const int not_op = flaw != OPERATION, from_root = wrong_rank == root, at_root = rank == root;
  const int no_root = flaw != OPERATION && flaw != ROOT;
  for (int i = 0; i < n; ++i) mine[i] = rank == root ? 7 : 0;
  if (not_op) {
    check(CALL(Bcast, Ibcast, mine, count(), type(), root_or(root), comm), from_root);
    for (int i = 0; !from_root && rank != wrong_rank && i < n; ++i)
      CHECK(mine[i] == 7, "MPI_Bcast: %d at %d", mine[i], i);
    check(CALL(Gather, Igather, mine, count(), type(), all, n, MPI_INT, root_or(root), comm),
          at_root);
    check(CALL(Gatherv, Igatherv, mine, count(), type(), all, counts, places, MPI_INT,
               root_or(root), comm),
          at_root);
    check(CALL(Scatter, Iscatter, all, n, MPI_INT, mine, count(), type(), root_or(root), comm),
          from_root);
    check(CALL(Scatterv, Iscatterv, all, counts, places, MPI_INT, mine, count(), type(),
               root_or(root), comm),
          from_root);
    in_step();
  }
  if (no_root && from_root) { /* what counts at the root alone */
    check(CALL(Gather, Igather, mine, n, MPI_INT, all, count(), type(), root, comm), 0);
    counts[size - 1] = count();
    check(CALL(Gatherv, Igatherv, mine, n, MPI_INT, all, counts, places, type(), root, comm), 0);
    check(CALL(Scatterv, Iscatterv, all, counts, places, type(), mine, n, MPI_INT, root, comm), 1);
    counts[size - 1] = n;
    in_step();
  }
  check(CALL(Reduce, Ireduce, mine, all, count(), type(), operation(), root_or(root), comm),
        at_root);
  in_step();
}

static void without_root(void) {
  if (flaw != OPERATION) {
    check(CALL(Allgather, Iallgather, mine, count(), type(), all, n, MPI_INT, comm), 1);
    check(CALL(Allgatherv, Iallgatherv, mine, count(), type(), all, counts, places, MPI_INT, comm),
          1);
    check(CALL(Alltoall, Ialltoall, all, count(), type(), all + kRoom, n, MPI_INT, comm), 1);
    counts[0] = count();
    check(CALL(Allgatherv, Iallgatherv, mine, n, MPI_INT, all, counts, places, type(), comm), 1);
    check(CALL(Alltoallv, Ialltoallv, all, counts, places, type(), all + kRoom, counts, places,
               MPI_INT, comm),
          1);
    counts[0] = n;
    in_step();
  }
  check(CALL(Allreduce, Iallreduce, mine, all, count(), type(), operation(), comm), 1);
  check(CALL(Reduce_scatter_block, Ireduce_scatter_block, all, mine, count(), type(), operation(),
             comm),
        1);
  check(CALL(Scan, Iscan, mine, all, count(), type(), operation(), comm), rank > wrong_rank);
  check(CALL(Exscan, Iexscan, mine, all, count(), type(), operation(), comm), rank > wrong_rank);
  in_step();
}

/* Ranks that only send are far ahead when they hear about the wrong call. */
static void far_ahead(void) {
  for (int i = 0; i < 500; ++i)
    check(CALL(Gather, Igather, mine, 1, MPI_INT, all, rank == 0 ? count() : 1, type(), 0, comm),
          0);
  in_step();
}

static void other_ranks(void) {
  /* All of them, and all but one. */
  for (int right = -1; right < size; ++right) {
    const int code = MPI_Allreduce(mine, all, rank == right ? 1 : -1, MPI_INT, MPI_SUM, comm);
    CHECK(class_of(code) == (rank == right ? MPI_ERR_OTHER : MPI_ERR_COUNT), "class %d",
          class_of(code));
    const int gathered = MPI_Gatherv(mine, rank == right ? 1 : -1, MPI_INT, all, counts, places,
                                     MPI_INT, size - 1, comm);
    CHECK(class_of(gathered) == (rank != right      ? MPI_ERR_COUNT
                                 : rank == size - 1 ? MPI_ERR_OTHER
                                                    : MPI_SUCCESS),
          "class %d", class_of(gathered));
    in_step();
  }
  /* One alone, whose call returns. */
  if (rank == size - 1)
    CHECK(class_of(MPI_Bcast(mine, -1, MPI_INT, 0, comm)) == MPI_ERR_COUNT, "not MPI_ERR_COUNT");
  if (rank == size - 1) MPI_Send(mine, 1, MPI_INT, 0, 1, comm);
  if (rank == 0) MPI_Recv(mine, 1, MPI_INT, size - 1, 1, comm, MPI_STATUS_IGNORE);
  in_step();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  mine = calloc(kRoom, sizeof(int));
  all = calloc((size_t)kRoom * ((size_t)size + 1), sizeof(int));
  counts = calloc((size_t)size, sizeof(int));
  places = calloc((size_t)size, sizeof(int));
  const int lengths[] = {1, 20000};
  /* Native libraries wait forever. */
  for (int k = 0; spans_clusters(comm) && k < 2; ++k) {
    n = lengths[k];
    for (int r = 0; r < size; ++r) counts[r] = n, places[r] = r * n;
    for (int i = 0; i < 2 * 2 * FLAWS; ++i) {
      flaw = i % FLAWS, nonblocking = i / FLAWS % 2, wrong_rank = i / FLAWS / 2 ? size - 1 : 0;
      with_data(0);
      with_data(size - 1);
      if (flaw != ROOT) without_root();
    }
  }
  wrong_rank = 0, flaw = COUNT, nonblocking = 0, n = 1;
  for (int r = 0; r < size; ++r) counts[r] = 1, places[r] = r;
  if (spans_clusters(comm)) far_ahead(), other_ranks();
  MPI_Barrier(MPI_COMM_WORLD);
  /* Nobody ever answers. */
  if (rank == 0) MPI_Bcast(mine, -1, MPI_INT, 0, comm);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
