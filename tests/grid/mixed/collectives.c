/* Collectives of every kind of data between clusters whose processors differ. Reductions compute, so
   a process that only claims to be on another processor leaves them out. */
#include "kinds.h"

static char out[4 * ROOM * 4], in[4 * ROOM * 4];
static int counts[] = {1, 3, 0, 2}, places[] = {4, 0, 0, 8};

static char* block(char* buffer, const struct kind* k, int elements) {
  return buffer + elements * k->extent;
}

static void rooted(const struct kind* k, int root) {
  fill_kind(k, out, BLOCK, root);
  if (rank != root) clear(out, sizeof out);
  MPI_Bcast(out, BLOCK, k->type, root, WORLD);
  check_kind(k, out, BLOCK, root, "MPI_Bcast");

  fill_kind(k, out, BLOCK, rank);
  clear(in, sizeof in);
  MPI_Gather(out, BLOCK, k->type, in, BLOCK, k->type, root, WORLD);
  for (int r = 0; rank == root && r < size; ++r) {
    check_kind(k, block(in, k, BLOCK * r), BLOCK, r, "MPI_Gather");
  }
  clear(in, sizeof in);
  fill_kind(k, block(in, k, places[root]), counts[root], root);
  MPI_Gatherv(rank == root ? MPI_IN_PLACE : out, counts[rank], k->type, in, counts, places, k->type,
              root, WORLD);
  for (int r = 0; rank == root && r < size; ++r) {
    check_kind(k, block(in, k, places[r]), counts[r], r, "MPI_Gatherv");
  }

  for (int r = 0; r < size; ++r) fill_kind(k, block(out, k, BLOCK * r), BLOCK, r);
  clear(in, sizeof in);
  MPI_Scatter(out, BLOCK, k->type, in, BLOCK, k->type, root, WORLD);
  check_kind(k, in, BLOCK, rank, "MPI_Scatter");
  for (int r = 0; r < size; ++r) fill_kind(k, block(out, k, places[r]), counts[r], r);
  clear(in, sizeof in);
  MPI_Scatterv(out, counts, places, k->type, rank == root ? MPI_IN_PLACE : in, counts[rank],
               k->type, root, WORLD);
  if (rank != root) check_kind(k, in, counts[rank], rank, "MPI_Scatterv");
  if (rank == root) check_kind(k, block(out, k, places[root]), counts[root], root, "MPI_Scatterv");
}

static void to_all(const struct kind* k) {
  MPI_Request request;
  fill_kind(k, out, BLOCK, rank);
  clear(in, sizeof in);
  MPI_Allgather(out, BLOCK, k->type, in, BLOCK, k->type, WORLD);
  for (int r = 0; r < size; ++r) check_kind(k, block(in, k, BLOCK * r), BLOCK, r, "MPI_Allgather");
  clear(in, sizeof in);
  fill_kind(k, block(in, k, BLOCK * rank), BLOCK, rank);
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, BLOCK, k->type, WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < size; ++r) check_kind(k, block(in, k, BLOCK * r), BLOCK, r, "in place");
  clear(in, sizeof in);
  MPI_Allgatherv(out, counts[rank], k->type, in, counts, places, k->type, WORLD);
  for (int r = 0; r < size; ++r) {
    check_kind(k, block(in, k, places[r]), counts[r], r, "MPI_Allgatherv");
  }

  for (int r = 0; r < size; ++r) fill_kind(k, block(out, k, BLOCK * r), BLOCK, 4 * rank + r);
  clear(in, sizeof in);
  MPI_Alltoall(out, BLOCK, k->type, in, BLOCK, k->type, WORLD);
  for (int r = 0; r < size; ++r) {
    check_kind(k, block(in, k, BLOCK * r), BLOCK, 4 * r + rank, "MPI_Alltoall");
  }
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, BLOCK, k->type, WORLD);
  for (int r = 0; r < size; ++r) {
    check_kind(k, block(out, k, BLOCK * r), BLOCK, 4 * r + rank, "MPI_Alltoall in place");
  }
}

/* Each block of another kind. */
static void of_several_kinds(void) {
  int one[] = {1, 1, 1, 1}, at[] = {0, ROOM, 2 * ROOM, 3 * ROOM};
  MPI_Datatype types[4], received[4];
  for (int first = 0; first < number_of_kinds; ++first) {
    for (int r = 0; r < size; ++r) {
      const struct kind* const there = &kinds[(first + rank + r) % number_of_kinds];
      types[r] = received[r] = there->type;
      fill_kind(there, out + at[r], 1, 4 * rank + r);
    }
    clear(in, sizeof in);
    MPI_Alltoallw(out, one, at, types, in, one, at, received, WORLD);
    for (int r = 0; r < size; ++r) {
      check_kind(&kinds[(first + rank + r) % number_of_kinds], in + at[r], 1, 4 * r + rank,
                 "MPI_Alltoallw");
    }
  }
}

static void neighbours(const struct kind* k) {
  MPI_Comm ring;
  int periods[] = {1}, dims[] = {4};
  MPI_Cart_create(WORLD, 1, dims, periods, 0, &ring);
  const int before = (rank + 3) % 4, after = (rank + 1) % 4;
  fill_kind(k, out, BLOCK, rank);
  fill_kind(k, block(out, k, BLOCK), BLOCK, 10 + rank);
  clear(in, sizeof in);
  MPI_Neighbor_allgather(out, BLOCK, k->type, in, BLOCK, k->type, ring);
  check_kind(k, in, BLOCK, before, "MPI_Neighbor_allgather");
  check_kind(k, block(in, k, BLOCK), BLOCK, after, "MPI_Neighbor_allgather");
  clear(in, sizeof in);
  MPI_Neighbor_alltoall(out, BLOCK, k->type, in, BLOCK, k->type, ring);
  check_kind(k, in, BLOCK, 10 + before, "MPI_Neighbor_alltoall");
  check_kind(k, block(in, k, BLOCK), BLOCK, after, "MPI_Neighbor_alltoall");
  MPI_Comm_free(&ring);
}

/* The sides are mixed: even and odd ranks. */
static void two_sides(const struct kind* k) {
  MPI_Comm side, both;
  MPI_Comm_split(WORLD, rank % 2, rank, &side);
  MPI_Intercomm_create(side, 0, WORLD, 1 - rank % 2, 20, &both);
  const int mine = rank / 2;
  fill_kind(k, out, BLOCK, rank);
  clear(in, sizeof in);
  MPI_Allgather(out, BLOCK, k->type, in, BLOCK, k->type, both);
  for (int r = 0; r < 2; ++r) {
    check_kind(k, block(in, k, BLOCK * r), BLOCK, 2 * r + 1 - rank % 2, "between two sides");
  }
  clear(in, sizeof in);
  MPI_Bcast(rank == 0 ? out : in, BLOCK, k->type,
            rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
  if (rank % 2 == 1) check_kind(k, in, BLOCK, 0, "MPI_Bcast to another side");
  MPI_Sendrecv(out, BLOCK, k->type, 1 - mine, 21, in, BLOCK, k->type, 1 - mine, 21, both,
               MPI_STATUS_IGNORE);
  check_kind(k, in, BLOCK, 2 * (1 - mine) + 1 - rank % 2, "MPI_Sendrecv with another side");
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
}

struct value_and_place {
  long double value;
  int place;
};

static void product(void* in_, void* inout_, int* count, MPI_Datatype* type) {
  (void)type;
  const long double* const a = in_;
  long double* const b = inout_;
  for (int i = 0; i < *count; ++i) b[i] = a[i] * b[i];
}

static void reductions(void) {
  enum { COUNT = 5000 };
  static long double x[COUNT], y[COUNT];
  const MPI_Datatype type = MPI_LONG_DOUBLE;
  const long double third = 0.25L; /* exact */
  for (int i = 0; i < COUNT; ++i) x[i] = rank + i * third;
  for (int root = 0; root < size; ++root) {
    MPI_Reduce(x, y, COUNT, type, MPI_SUM, root, WORLD);
    for (int i = 0; rank == root && i < COUNT; ++i) {
      CHECK(y[i] == 6 + 4 * i * third, "MPI_Reduce made %Lg of element %d", y[i], i);
    }
  }
  for (int count = 1; count <= COUNT; count *= 17) {
    MPI_Allreduce(x, y, count, type, MPI_SUM, WORLD);
    for (int i = 0; i < count; ++i) {
      CHECK(y[i] == 6 + 4 * i * third, "MPI_Allreduce made %Lg of element %d", y[i], i);
    }
  }
  for (int i = 0; i < COUNT; ++i) y[i] = x[i];
  MPI_Allreduce(MPI_IN_PLACE, y, COUNT, type, MPI_MAX, WORLD);
  CHECK(y[COUNT - 1] == 3 + (COUNT - 1) * third, "in place: %Lg", y[COUNT - 1]);
  struct value_and_place own = {rank == 2 ? 9.5L : rank, rank}, found;
  MPI_Allreduce(&own, &found, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, WORLD);
  CHECK(found.value == 9.5L && found.place == 2, "MPI_MAXLOC: %Lg at %d", found.value, found.place);
  MPI_Op op;
  MPI_Op_create(product, 0, &op);
  for (int i = 0; i < 2; ++i) x[i] = rank + 2 + i;
  MPI_Allreduce(x, y, 2, type, op, WORLD);
  CHECK(y[0] == 120 && y[1] == 360, "products: %Lg %Lg", y[0], y[1]);
  MPI_Op_free(&op);
  int each[] = {2, 0, 1, 3};
  for (int i = 0; i < 6; ++i) x[i] = rank + i;
  MPI_Reduce_scatter(x, y, each, type, MPI_SUM, WORLD);
  const int first[] = {0, 2, 2, 3};
  for (int i = 0; i < each[rank]; ++i) {
    CHECK(y[i] == 6 + 4 * (first[rank] + i), "MPI_Reduce_scatter: %Lg", y[i]);
  }
  MPI_Reduce_scatter_block(x, y, 1, type, MPI_SUM, WORLD);
  CHECK(y[0] == 6 + 4 * rank, "MPI_Reduce_scatter_block: %Lg", y[0]);
  x[0] = rank + 1;
  MPI_Scan(x, y, 1, type, MPI_SUM, WORLD);
  CHECK(y[0] == (rank + 1) * (rank + 2) / 2, "MPI_Scan: %Lg", y[0]);
  MPI_Exscan(x, y, 1, type, MPI_SUM, WORLD);
  CHECK(rank == 0 || y[0] == rank * (rank + 1) / 2, "MPI_Exscan: %Lg", y[0]);
  long double _Complex z = rank + 1, sum = 0;
  MPI_Allreduce(&z, &sum, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, WORLD);
  CHECK(sum == 10, "the sum of complex numbers is wrong");
  /* Elements with gaps. */
  MPI_Datatype apart;
  MPI_Op of_apart;
  MPI_Type_create_resized(type, 0, 32, &apart);
  MPI_Type_commit(&apart);
  MPI_Op_create(product, 1, &of_apart);
  long double spread[2] = {rank + 1, -1}, all[2] = {0, -2};
  MPI_Allreduce(spread, all, 1, apart, of_apart, WORLD);
  CHECK(all[0] == 24 && all[1] == -2, "with gaps: %Lg %Lg", all[0], all[1]);
  MPI_Op_free(&of_apart);
  MPI_Type_free(&apart);
}

static void other_reductions(void) {
  int i = rank + 1, sum = 0;
  double d = rank / 2.0, most = 0;
  struct {
    double value;
    int place;
  } own = {-rank, rank}, found;
  MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, WORLD);
  MPI_Allreduce(&d, &most, 1, MPI_DOUBLE, MPI_MAX, WORLD);
  MPI_Allreduce(&own, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, WORLD);
  CHECK(sum == 10 && most == 1.5, "sum %d, most %g", sum, most);
  CHECK(found.value == -3 && found.place == 3, "MPI_MINLOC: %g at %d", found.value, found.place);
}

static int on_any_rank(int mine) {
  int any = 0;
  for (int r = 0; r < size; ++r) {
    char there = (char)mine;
    MPI_Bcast(&there, 1, MPI_CHAR, r, WORLD);
    any = any || there;
  }
  return any;
}

int main(int argc, char** argv) {
  start_kinds(argc, argv);
  make_kinds();
  const int all_real = !on_any_rank(claims), all_little = !on_any_rank(claims && big);
  for (int i = 0; i < number_of_kinds; ++i) {
    for (int root = 0; root < size; ++root) rooted(&kinds[i], root);
    to_all(&kinds[i]);
    neighbours(&kinds[i]);
    /* Isthmus's own numbers do not claim to be big-endian. */
    if (all_little) two_sides(&kinds[i]);
  }
  of_several_kinds();
  if (all_real) {
    reductions();
    other_reductions();
  }
  free_kinds();
  return finish("collectives");
}
