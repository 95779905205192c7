/* Collectives between two sides in which one rank alone has a wrong argument. ranks: 2 4 5 */
#include "../wrong.h"

static MPI_Comm inter;
static int here, others; /* my side, and how many the other one has */
static int *mine, *all, *counts, *places;

/* The root is the first of side `from`. */
static int root_of(int from) {
  int local = 0;
  MPI_Comm_rank(inter, &local);
  if (here != from) return 0;
  return local == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

static void in_step(void) {
  int one = 1, sum = 0;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS && sum == others,
        "after %s of %d, rank %d with a wrong %s: sum %d, not %d", doing, n, wrong_rank,
        flaws[flaw], sum, others);
}

static void with_root(int from) {
  const int root = root_of(from);
  const int wrong_at_root = wrong_rank == from;    /* ranks 0 and 1 are their sides' first */
  const int fails = wrong_at_root && here != from; /* where data comes from the root */
  const int gets = root == MPI_ROOT && wrong_rank % 2 != from;
  if (wrong_rank % 2 == from && !wrong_at_root) return; /* it has no arguments that count */
  if (flaw != OPERATION) {
    check(CALL(Bcast, Ibcast, mine, count(), type(), root_or(root), inter), fails);
    check(CALL(Gather, Igather, mine, count(), type(), all, count(), type(), root_or(root), inter),
          gets);
    check(
        CALL(Scatter, Iscatter, all, count(), type(), mine, count(), type(), root_or(root), inter),
        fails);
    counts[0] = count();
    check(CALL(Gatherv, Igatherv, mine, count(), type(), all, counts, places, type(), root_or(root),
               inter),
          gets);
    check(CALL(Scatterv, Iscatterv, all, counts, places, type(), mine, count(), type(),
               root_or(root), inter),
          fails);
    counts[0] = n;
  }
  check(CALL(Reduce, Ireduce, mine, all, count(), type(), operation(), root_or(root), inter), gets);
}

static void without_root(void) {
  const int fails = wrong_rank % 2 != here;
  if (flaw != OPERATION) {
    check(CALL(Allgather, Iallgather, mine, count(), type(), all, n, MPI_INT, inter), fails);
    check(CALL(Allgatherv, Iallgatherv, mine, count(), type(), all, counts, places, MPI_INT, inter),
          fails);
    check(CALL(Alltoall, Ialltoall, all, count(), type(), all + kRoom, n, MPI_INT, inter), fails);
  }
  check(CALL(Allreduce, Iallreduce, mine, all, count(), type(), operation(), inter), fails);
  /* Each side gets as many blocks as it has members, and both get as much in all. */
  if (size % 2 == 0)
    check(CALL(Reduce_scatter_block, Ireduce_scatter_block, all, mine, count(), type(), operation(),
               inter),
          fails);
  in_step();
}

int main(int argc, char** argv) {
  MPI_Comm side;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  here = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, here, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - here, 1, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Comm_remote_size(inter, &others);
  mine = calloc(kRoom, sizeof(int));
  all = calloc((size_t)kRoom * ((size_t)size + 1), sizeof(int));
  counts = calloc((size_t)size, sizeof(int));
  places = calloc((size_t)size, sizeof(int));
  const int lengths[] = {1, 3000};
  for (int k = 0; spans_clusters(MPI_COMM_WORLD) && k < 2; ++k) {
    n = lengths[k];
    for (int r = 0; r < size; ++r) counts[r] = n, places[r] = r * n;
    for (int i = 0; i < 2 * 2 * FLAWS; ++i) {
      flaw = i % FLAWS, nonblocking = i / FLAWS % 2, wrong_rank = i / FLAWS / 2 ? size - 1 : 0;
      for (int from = 0; from < 2; ++from) with_root(from), in_step();
      if (flaw != ROOT) without_root();
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&side);
  MPI_Finalize();
  return 0;
}
