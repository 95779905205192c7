/* Neighbourhood collectives in which one rank alone has a wrong argument: its neighbours get an
   error, nobody else does. ranks: 2 4 5 */
#include "../wrong.h"

static MPI_Comm ring;

static void in_step(void) {
  int one = 1, sum = 0;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, ring) == MPI_SUCCESS && sum == size,
        "after %s: sum %d", doing, sum);
}

static void exchange(int* out, int* in) {
  const int after = (wrong_rank + 1) % size, before = (wrong_rank + size - 1) % size;
  const int next = rank == after || rank == before;
  int counts[2] = {n, n}, right[2] = {n, n}, places[2] = {0, n};
  MPI_Aint bytes[2] = {0, n * (MPI_Aint)sizeof(int)};
  MPI_Datatype types[2] = {MPI_INT, type()}, ints[2] = {MPI_INT, MPI_INT};
  counts[1] = count();
  check(CALL(Neighbor_allgather, Ineighbor_allgather, out, count(), type(), in, n, MPI_INT, ring),
        next);
  check(CALL(Neighbor_allgatherv, Ineighbor_allgatherv, out, n, MPI_INT, in, counts, places, type(),
             ring),
        next);
  check(CALL(Neighbor_alltoall, Ineighbor_alltoall, out, n, MPI_INT, in, count(), type(), ring),
        next);
  check(CALL(Neighbor_alltoallv, Ineighbor_alltoallv, out, counts, places, type(), in, right,
             places, MPI_INT, ring),
        next);
  check(CALL(Neighbor_alltoallw, Ineighbor_alltoallw, out, counts, bytes, types, in, right, bytes,
             ints, ring),
        next);
  in_step();
  /* Data still goes to the right neighbours. */
  for (int i = 0; i < 2 * n; ++i) out[i] = 10 * rank + i / n;
  CHECK(MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, ring) == MPI_SUCCESS, "no success");
  for (int i = 0; i < 2 * n; ++i) {
    const int from = i < n ? (rank + size - 1) % size : (rank + 1) % size;
    CHECK(in[i] == 10 * from + (i < n), "%d at %d", in[i], i);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &rank);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  int* const out = calloc(kRoom, sizeof(int));
  int* const in = calloc(kRoom, sizeof(int));
  const int lengths[] = {1, 20000};
  for (int k = 0; spans_clusters(ring) && k < 2; ++k) {
    n = lengths[k];
    for (int i = 0; i < 8; ++i) {
      flaw = i % 2 ? TYPE : COUNT, nonblocking = i / 2 % 2, wrong_rank = i / 4 ? size - 1 : 0;
      exchange(out, in);
    }
  }
  free(out);
  free(in);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
