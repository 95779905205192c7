/* Persistent collectives started again and again, together and in the same order everywhere, with
   data that changes; datatypes and operations freed after the initialisation. ranks: 2 3 5 */
#include "check.h"

enum { kRounds = 5, kForms = 8 };

static void last(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type; /* the rightmost wins, plus how many there were before */
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += 1000 * (((int*)in)[i] / 1000 + 1);
}

#if HAVE_PERSISTENT
#define FORM(blocking, nonblocking, ...)                                        \
  do {                                                                          \
    if (first) MPI_##blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &requests[n]); \
    ++n;                                                                        \
  } while (0)
#else
#define FORM(blocking, nonblocking, ...) MPI_##nonblocking(__VA_ARGS__, &requests[n++])
#endif

static void test(MPI_Comm comm) {
  /* Inside one cluster they are native, and those of MPICH 4.0 go wrong when started again. */
  if (!spans_clusters(comm)) return;
  const int root = size / 2, to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Datatype gaps;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Op op;
  MPI_Op_create(last, 0, &op);

  MPI_Request requests[kForms + 2];
  int spread[4], mine, sum, winner, before, told, got, one = -1;
  const size_t ints = sizeof(int) * (size_t)size;
  int *all = malloc(ints), *out = malloc(ints), *in = malloc(ints), *places = malloc(ints);
  int *ones = malloc(ints), *at_root = malloc(ints), *summands = malloc(ints);
  for (int i = 0; i < size; ++i) ones[i] = 1, places[i] = size - 1 - i;

  doing = "persistent";
  for (int round = 0; round < kRounds; ++round) {
    const int first = round == 0;
    (void)first;
    spread[0] = spread[2] = rank == root ? round : -1, spread[1] = spread[3] = -1;
    mine = rank + round, sum = winner = before = got = one = -1, told = rank + 10 * round;
    const int* const number = &rank;
    for (int i = 0; i < size; ++i) {
      out[i] = value(rank, size - 1 - i, round), all[i] = in[i] = at_root[i] = -1;
      summands[i] = rank * i + round;
    }
    if (rank == root) at_root[root] = mine;

    int n = 0;
    FORM(Bcast, Ibcast, spread, 1, gaps, root, comm);
    FORM(Allreduce, Iallreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    FORM(Allreduce, Iallreduce, number, &winner, 1, MPI_INT, op, comm);
    FORM(Allgather, Iallgather, &mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    FORM(Alltoallv, Ialltoallv, out, ones, places, MPI_INT, in, ones, places, MPI_INT, comm);
    FORM(Gather, Igather, rank == root ? MPI_IN_PLACE : &mine, 1, MPI_INT, at_root, 1, MPI_INT,
         root, comm);
    FORM(Reduce_scatter_block, Ireduce_scatter_block, summands, &one, 1, MPI_INT, MPI_SUM, comm);
    FORM(Exscan, Iexscan, &mine, &before, 1, MPI_INT, MPI_SUM, comm);
#if HAVE_PERSISTENT
    if (first) {
      MPI_Type_free(&gaps);
      MPI_Op_free(&op);
    }
    if (round % 2 == 0) {
      MPI_Startall(n, requests);
    } else {
      for (int i = 0; i < n; ++i) MPI_Start(&requests[i]);
    }
#endif
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[n]);
    MPI_Isend(&told, 1, MPI_INT, to, 3, comm, &requests[n + 1]);
    if (round % 3 == 0) {
      MPI_Waitall(n + 2, requests, MPI_STATUSES_IGNORE);
    } else if (round % 3 == 1) {
      for (int i = n + 2; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    } else {
      /* Not MPI_Testall: with persistent requests that of MPICH 5.0 fails. */
      for (int i = 0; i < n + 2; ++i)
        for (int done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    }

    CHECK(spread[0] == round && spread[1] == -1 && spread[2] == round && spread[3] == -1,
          "round %d: MPI_Bcast with gaps brought %d %d %d %d", round, spread[0], spread[1],
          spread[2], spread[3]);
    CHECK(sum == size * (size - 1) / 2 + size * round, "round %d: MPI_Allreduce gave %d", round,
          sum);
    CHECK(winner % 1000 == size - 1, "round %d: what does not commute gave %d", round, winner);
    for (int i = 0; i < size; ++i) {
      CHECK(all[i] == i + round, "round %d: MPI_Allgather has %d at %d", round, all[i], i);
      CHECK(in[size - 1 - i] == value(i, rank, round), "round %d: MPI_Alltoallv has %d from %d",
            round, in[size - 1 - i], i);
      CHECK(rank != root || at_root[i] == i + round, "round %d: MPI_Gather has %d at %d", round,
            at_root[i], i);
    }
    CHECK(one == rank * size * (size - 1) / 2 + size * round,
          "round %d: MPI_Reduce_scatter_block gave %d", round, one);
    CHECK(rank == 0 || before == rank * (rank - 1) / 2 + rank * round,
          "round %d: MPI_Exscan gave %d", round, before);
    CHECK(got == from + 10 * round, "round %d: the wildcard got %d", round, got);
  }
  for (int i = 0; i < kForms; ++i)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
#if !HAVE_PERSISTENT
  MPI_Type_free(&gaps);
  MPI_Op_free(&op);
#endif
  free(all), free(out), free(in), free(places), free(ones), free(at_root), free(summands);
}

/* Initialised and never started; and wrong arguments, which are found at once. */
static void in_vain(void) {
#if HAVE_PERSISTENT
  MPI_Request request = MPI_REQUEST_NULL;
  int number = 0, class = MPI_SUCCESS;
  MPI_Bcast_init(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Bcast_init(&number, -1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
                  &class);
  CHECK(class == MPI_ERR_COUNT, "MPI_Bcast_init of -1 elements: class %d", class);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  on_communicators(test);
  in_vain();
  return finish("persistent");
}
