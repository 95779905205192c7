/* Many collectives under way at once, on several communicators, among messages and wildcards;
   datatypes, operations and communicators freed while they are in use. ranks: 2 3 5 */
#include "check.h"

#define ROUNDS 20
#define KINDS_OF_COLLECTIVE 8

static void last(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type; /* the rightmost wins, plus how many there were before */
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += 1000 * (((int*)in)[i] / 1000 + 1);
}

static void test(MPI_Comm comm) {
  const int free_early = spans_clusters(comm);
  for (int round = 0; round < ROUNDS; ++round) {
    const int root = round % size;
    MPI_Request requests[KINDS_OF_COLLECTIVE + 3];
    int n = 0;
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    MPI_Datatype gaps;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Op op;
    MPI_Op_create(last, 0, &op);

    int got = -1, told = rank + 10 * round, passed = -1, spread[4] = {-1, -1, -1, -1};
    int sum = -1, mine = rank + round, before = -1, winner = -1;
    int *all = malloc(sizeof(int) * (size_t)size), *swapped = malloc(sizeof(int) * (size_t)size);
    int *out = malloc(sizeof(int) * (size_t)size), *at_root = malloc(sizeof(int) * (size_t)size);
    for (int i = 0; i < size; ++i) out[i] = value(rank, i, round);
    if (rank == root) spread[0] = round, spread[2] = root;
    passed = rank == root ? 4 * round : -1;

    doing = "many";
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, round, comm, &requests[n++]);
    MPI_Ibcast(&passed, 1, MPI_INT, root, comm, &requests[n++]);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy, &requests[n++]);
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm, &requests[n++]);
    MPI_Ibcast(spread, 1, gaps, root, copy, &requests[n++]);
    MPI_Ialltoall(out, 1, MPI_INT, swapped, 1, MPI_INT, comm, &requests[n++]);
    MPI_Igather(&mine, 1, MPI_INT, at_root, 1, MPI_INT, root, copy, &requests[n++]);
    MPI_Iexscan(&mine, &before, 1, MPI_INT, MPI_SUM, comm, &requests[n++]);
    const int number = rank;
    MPI_Iallreduce(&number, &winner, 1, MPI_INT, op, comm, &requests[n++]);
    MPI_Ibarrier(copy, &requests[n++]);
    if (free_early) {
      MPI_Type_free(&gaps);
      MPI_Op_free(&op);
      MPI_Comm_free(&copy);
      CHECK(op == MPI_OP_NULL, "MPI_Op_free left the handle");
    }
    MPI_Isend(&told, 1, MPI_INT, (rank + 1) % size, round, comm, &requests[n++]);

    if (round % 3 == 0) {
      MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    } else if (round % 3 == 1) {
      for (int i = n; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    } else {
      for (int left = n; left > 0;) {
        int index = MPI_UNDEFINED, done = 0;
        MPI_Testany(n, requests, &index, &done, MPI_STATUS_IGNORE);
        if (done) --left;
      }
    }
    if (!free_early) {
      MPI_Type_free(&gaps);
      MPI_Op_free(&op);
      MPI_Comm_free(&copy);
    }
    CHECK(got == (rank + size - 1) % size + 10 * round, "the wildcard got %d", got);
    CHECK(passed == 4 * round, "MPI_Ibcast brought %d", passed);
    CHECK(sum == size * (size - 1) / 2 + size * round, "MPI_Iallreduce gave %d", sum);
    CHECK(spread[0] == round && spread[1] == -1 && spread[2] == root && spread[3] == -1,
          "MPI_Ibcast with gaps brought %d %d %d %d", spread[0], spread[1], spread[2], spread[3]);
    for (int i = 0; i < size; ++i) {
      CHECK(all[i] == i + round, "MPI_Iallgather has %d at %d", all[i], i);
      CHECK(swapped[i] == value(i, rank, round), "MPI_Ialltoall has %d at %d", swapped[i], i);
      CHECK(rank != root || at_root[i] == i + round, "MPI_Igather has %d at %d", at_root[i], i);
    }
    CHECK(rank == 0 || before == rank * (rank - 1) / 2 + rank * round, "MPI_Iexscan gave %d",
          before);
    CHECK(winner % 1000 == size - 1, "the operation that does not commute gave %d", winner);
    free(all), free(swapped), free(out), free(at_root);
  }
}

/* Ranks run far ahead of each other through small collectives of all kinds. */
static void run_ahead(MPI_Comm comm) {
  for (int i = 0; i < 200; ++i) {
    int number = rank == i % size ? i : -1, sum = -1, prefix = -1;
    MPI_Bcast(&number, 1, MPI_INT, i % size, comm);
    CHECK(number == i, "broadcast %d brought %d", i, number);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, (i + 1) % size, comm);
    CHECK(rank != (i + 1) % size || sum == size * (size - 1) / 2, "reduction %d gave %d", i, sum);
    MPI_Scan(&rank, &prefix, 1, MPI_INT, MPI_SUM, comm);
    CHECK(prefix == rank * (rank + 1) / 2, "scan %d gave %d", i, prefix);
    if (i % 10 == 0) MPI_Barrier(comm);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  on_communicators(test);
  on_communicators(run_ahead);
  return finish("outstanding");
}
