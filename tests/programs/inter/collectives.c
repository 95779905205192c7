/* Every collective between two sides, blocking, non-blocking and (where the library has them)
   persistent, with every root.
   ranks: 2 3 6 */
#include <string.h>

#include "inter.h"

enum { kBlocking, kNonblocking, kPersistent };
static const char* forms[] = {"blocking", "non-blocking", "persistent"};
#if MPI_VERSION >= 4
enum { kForms = 3 };
#define INIT(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
#else
enum { kForms = 2 };
#define INIT(name, ...) MPI_SUCCESS
#endif

/* Calls a collective in a form, twice where it is persistent. */
#define CALL(form, name, lower, ...)               \
  do {                                             \
    MPI_Request request = MPI_REQUEST_NULL;        \
    if (form == kBlocking) {                       \
      MPI_##name(__VA_ARGS__);                     \
    } else if (form == kNonblocking) {             \
      MPI_I##lower(__VA_ARGS__, &request);         \
      MPI_Wait(&request, MPI_STATUS_IGNORE);       \
    } else {                                       \
      INIT(name, __VA_ARGS__);                     \
      for (int again_ = 0; again_ < 2; ++again_) { \
        MPI_Start(&request);                       \
        MPI_Wait(&request, MPI_STATUS_IGNORE);     \
      }                                            \
      MPI_Request_free(&request);                  \
    }                                              \
  } while (0)

static const Meeting* m;
static const char* what;
static int* scratch; /* room for everything */
static int* given;

static int value(int from, int to, int i) { return from * 10000 + to * 100 + i; }

/* The root argument of this rank if the root is rank `root` of root_side. */
static int as_root(int root_side, int root) {
  if (m->side != root_side) return root;
  return m->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void barrier(int form) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) {
    MPI_Barrier(m->inter);
  } else if (form == kNonblocking) {
    MPI_Ibarrier(m->inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
#if MPI_VERSION >= 4
    MPI_Barrier_init(m->inter, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#endif
  }
}

static void rooted(int form, int root_side, int root) {
  const int mine = m->side == root_side;
  const int root_size = mine ? m->size : m->remote_size;
  if (root >= root_size) return;
  const int given_root = as_root(root_side, root);
  const int at_root = given_root == MPI_ROOT, apart = given_root == MPI_PROC_NULL;
  const int root_world = mine ? m->mine[root] : m->theirs[root];
  const int others = mine ? m->remote_size : m->size; /* on the other side */
  const int* other = mine ? m->theirs : m->mine;

  /* Natively, MPICH (4.0 to 5.0) delivers nothing of MPI_Ibcast from other roots than 0. */
  const int natively = m->natively && form != kBlocking && root != 0;
  for (int count = 1; !natively && count <= 3000; count *= 3000) {
    for (int i = 0; i < count; ++i) scratch[i] = at_root ? value(root_world, 1, i) : -1;
    CALL(form, Bcast, bcast, scratch, count, MPI_INT, given_root, m->inter);
    for (int i = 0; i < count; ++i)
      CHECK(scratch[i] == (apart ? -1 : value(root_world, 1, i)), "%s, %s bcast: %d at %d", what,
            forms[form], scratch[i], i);
  }

  /* gather and scatter of two elements; of i + 1 elements for rank i */
  for (int i = 0; i < 2; ++i) given[i] = value(world_rank, 2, i);
  for (int i = 0; i < 2 * world_size; ++i) scratch[i] = -1;
  CALL(form, Gather, gather, given, 2, MPI_INT, scratch, 2, MPI_INT, given_root, m->inter);
  for (int r = 0; at_root && r < others; ++r)
    for (int i = 0; i < 2; ++i)
      CHECK(scratch[2 * r + i] == value(other[r], 2, i), "%s, %s gather: %d", what, forms[form],
            scratch[2 * r + i]);
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < 2; ++i) given[2 * r + i] = value(world_rank, other[r], i);
  scratch[0] = scratch[1] = -1;
  CALL(form, Scatter, scatter, given, 2, MPI_INT, scratch, 2, MPI_INT, given_root, m->inter);
  for (int i = 0; !mine && i < 2; ++i)
    CHECK(scratch[i] == value(root_world, world_rank, i), "%s, %s scatter: %d", what, forms[form],
          scratch[i]);

  int *counts = malloc(sizeof(int) * (size_t)world_size),
      *places = malloc(sizeof(int) * (size_t)world_size);
  int all = 0;
  for (int r = 0; r < others; ++r) {
    counts[r] = r;
    places[r] = all + 1; /* with gaps */
    all += r + 1;
  }
  for (int i = 0; i < m->rank; ++i) given[i] = value(world_rank, 3, i);
  for (int i = 0; i <= all; ++i) scratch[i] = -1;
  CALL(form, Gatherv, gatherv, given, m->rank, MPI_INT, scratch, counts, places, MPI_INT,
       given_root, m->inter);
  for (int r = 0; at_root && r < others; ++r) {
    CHECK(scratch[places[r] - 1] == -1, "%s, %s gatherv wrote into a gap", what, forms[form]);
    for (int i = 0; i < r; ++i)
      CHECK(scratch[places[r] + i] == value(other[r], 3, i), "%s, %s gatherv: %d", what,
            forms[form], scratch[places[r] + i]);
  }
  for (int r = 0; r < others; ++r)
    for (int i = 0; i < r; ++i) given[places[r] + i] = value(world_rank, other[r], i);
  CALL(form, Scatterv, scatterv, given, counts, places, MPI_INT, scratch, m->rank, MPI_INT,
       given_root, m->inter);
  for (int i = 0; !mine && i < m->rank; ++i)
    CHECK(scratch[i] == value(root_world, world_rank, i), "%s, %s scatterv: %d", what, forms[form],
          scratch[i]);
  free(counts);
  free(places);

  for (int count = 3; count <= 3000; count *= 1000) {
    long expected = 0;
    for (int r = 0; r < others; ++r) expected += other[r] + 1;
    for (int i = 0; i < count; ++i) given[i] = (world_rank + 1) * (i + 1);
    for (int i = 0; i < count; ++i) scratch[i] = -1;
    CALL(form, Reduce, reduce, given, scratch, count, MPI_INT, MPI_SUM, given_root, m->inter);
    for (int i = 0; i < count; ++i)
      CHECK(scratch[i] == (at_root ? expected * (i + 1) : -1), "%s, %s reduce: %d at %d", what,
            forms[form], scratch[i], i);
  }
}

static void all(int form) {
  int *counts = malloc(sizeof(int) * 4 * (size_t)world_size), *places = counts + world_size,
      *out_counts = places + world_size, *out_places = out_counts + world_size;
  for (int i = 0; i < 2; ++i) given[i] = value(world_rank, 4, i);
  CALL(form, Allgather, allgather, given, 2, MPI_INT, scratch, 2, MPI_INT, m->inter);
  for (int r = 0; r < m->remote_size; ++r)
    for (int i = 0; i < 2; ++i)
      CHECK(scratch[2 * r + i] == value(m->theirs[r], 4, i), "%s, %s allgather: %d", what,
            forms[form], scratch[2 * r + i]);
  int sum = 0;
  for (int r = 0; r < m->remote_size; ++r) {
    counts[r] = (m->theirs[r] * 7) % 5;
    places[r] = sum;
    sum += counts[r] + 1;
  }
  for (int i = 0; i < 5; ++i) given[i] = value(world_rank, 5, i);
  CALL(form, Allgatherv, allgatherv, given, (world_rank * 7) % 5, MPI_INT, scratch, counts, places,
       MPI_INT, m->inter);
  for (int r = 0; r < m->remote_size; ++r)
    for (int i = 0; i < counts[r]; ++i)
      CHECK(scratch[places[r] + i] == value(m->theirs[r], 5, i), "%s, %s allgatherv: %d", what,
            forms[form], scratch[places[r] + i]);

  for (int r = 0; r < m->remote_size; ++r)
    for (int i = 0; i < 2; ++i) given[2 * r + i] = value(world_rank, m->theirs[r], i);
  CALL(form, Alltoall, alltoall, given, 2, MPI_INT, scratch, 2, MPI_INT, m->inter);
  for (int r = 0; r < m->remote_size; ++r)
    for (int i = 0; i < 2; ++i)
      CHECK(scratch[2 * r + i] == value(m->theirs[r], world_rank, i), "%s, %s alltoall: %d", what,
            forms[form], scratch[2 * r + i]);

  sum = 0;
  int out_sum = 0;
  for (int r = 0; r < m->remote_size; ++r) {
    counts[r] = (m->theirs[r] * 3 + world_rank) % 4;
    out_counts[r] = (world_rank * 3 + m->theirs[r]) % 4;
    places[r] = sum;
    out_places[r] = out_sum;
    for (int i = 0; i < out_counts[r]; ++i) given[out_sum + i] = value(world_rank, m->theirs[r], i);
    sum += counts[r] + 1;
    out_sum += out_counts[r];
  }
  CALL(form, Alltoallv, alltoallv, given, out_counts, out_places, MPI_INT, scratch, counts, places,
       MPI_INT, m->inter);
  for (int r = 0; r < m->remote_size; ++r)
    for (int i = 0; i < counts[r]; ++i)
      CHECK(scratch[places[r] + i] == value(m->theirs[r], world_rank, i), "%s, %s alltoallv: %d",
            what, forms[form], scratch[places[r] + i]);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)world_size);
  for (int r = 0; r < m->remote_size; ++r) {
    types[r] = MPI_INT;
    places[r] *= (int)sizeof(int);
    out_places[r] *= (int)sizeof(int);
  }
  memset(scratch, 0, sizeof(int) * (size_t)sum);
  CALL(form, Alltoallw, alltoallw, given, out_counts, out_places, types, scratch, counts, places,
       types, m->inter);
  for (int r = 0; r < m->remote_size; ++r)
    for (int i = 0; i < counts[r]; ++i)
      CHECK(scratch[places[r] / (int)sizeof(int) + i] == value(m->theirs[r], world_rank, i),
            "%s, %s alltoallw", what, forms[form]);
  free(types);

  long expected = 0;
  for (int r = 0; r < m->remote_size; ++r) expected += m->theirs[r] + 1;
  for (int count = 3; count <= 3000; count *= 1000) {
    for (int i = 0; i < count; ++i) given[i] = (world_rank + 1) * (i + 1);
    CALL(form, Allreduce, allreduce, given, scratch, count, MPI_INT, MPI_SUM, m->inter);
    for (int i = 0; i < count; ++i)
      CHECK(scratch[i] == expected * (i + 1), "%s, %s allreduce: %d at %d", what, forms[form],
            scratch[i], i);
  }
  /* both sides' counts add up to the product of their sizes */
  const int product = m->size * m->remote_size;
  for (int i = 0; i < product; ++i) given[i] = (world_rank + 1) * (i + 1);
  CALL(form, Reduce_scatter_block, reduce_scatter_block, given, scratch, m->remote_size, MPI_INT,
       MPI_SUM, m->inter);
  for (int i = 0; i < m->remote_size; ++i)
    CHECK(scratch[i] == expected * (m->rank * m->remote_size + i + 1),
          "%s, %s reduce_scatter_block: %d", what, forms[form], scratch[i]);
  sum = 0;
  int first = 0;
  for (int r = 0; r < m->size; ++r) {
    counts[r] = r == m->size - 1 ? product - sum : r % (m->remote_size + 1);
    if (r < m->rank) first += counts[r];
    sum += counts[r];
  }
  CALL(form, Reduce_scatter, reduce_scatter, given, scratch, counts, MPI_INT, MPI_SUM, m->inter);
  for (int i = 0; i < counts[m->rank]; ++i)
    CHECK(scratch[i] == expected * (first + i + 1), "%s, %s reduce_scatter: %d", what, forms[form],
          scratch[i]);
  free(counts);
}

/* Affine maps, whose composition does not commute: the remote side's, in its order. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const int* l = in;
  int* r = inout;
  for (int i = 0; i < *count; ++i, l += 2, r += 2) {
    const int a = l[0] * r[0] % 997, b = (r[0] * l[1] + r[1]) % 997;
    r[0] = a;
    r[1] = b;
  }
}
static void in_order(void) {
  MPI_Op op;
  MPI_Datatype pair;
  MPI_Op_create(compose, 0, &op);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int mine[2] = {world_rank + 2, 3 * world_rank + 1}, got[2], want[2];
  MPI_Allreduce(mine, got, 1, pair, op, m->inter);
  for (int r = 0; r < m->remote_size; ++r) {
    int next[2] = {m->theirs[r] + 2, 3 * m->theirs[r] + 1}, one = 1;
    if (r > 0) compose(want, next, &one, &pair);
    memcpy(want, next, sizeof want);
  }
  CHECK(got[0] == want[0] && got[1] == want[1], "%s: not in the order of ranks", what);
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

/* Several under way at a time. */
static void overlapping(void) {
  enum { kMany = 6 };
  MPI_Request requests[kMany];
  int in[kMany], out[kMany];
  for (int i = 0; i < kMany; ++i) {
    out[i] = world_rank + i;
    const int root = as_root(i % 2, 0);
    if (i % 3 == 0) {
      MPI_Iallreduce(&out[i], &in[i], 1, MPI_INT, MPI_MAX, m->inter, &requests[i]);
    } else {
      in[i] = out[i];
      MPI_Ibcast(&in[i], 1, MPI_INT, root, m->inter, &requests[i]);
    }
  }
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  int most = 0;
  for (int r = 0; r < m->remote_size; ++r)
    if (m->theirs[r] > most) most = m->theirs[r];
  for (int i = 0; i < kMany; ++i) {
    const int sent = m->side == i % 2 ? world_rank : m->theirs[0];
    CHECK(in[i] == (i % 3 == 0 ? most : sent) + i, "%s: number %d under way gave %d", what, i,
          in[i]);
  }
}

static void errors(void) {
  int one = 1, two = 0, class = 0;
  MPI_Comm_set_errhandler(m->inter, MPI_ERRORS_RETURN);
  int code = MPI_Scan(&one, &two, 1, MPI_INT, MPI_SUM, m->inter);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_COMM, "%s: a scan between two sides gave class %d", what, class);
  code = MPI_Bcast(&one, 1, MPI_INT, m->remote_size, m->inter);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_ROOT, "%s: a root beyond the remote side gave class %d", what, class);
  MPI_Comm_set_errhandler(m->inter, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  given = malloc(sizeof(int) * (size_t)(3000 + 100 * world_size));
  scratch = malloc(sizeof(int) * (size_t)(3000 + 100 * world_size));
  const int here = kForms;
  int in_all = 0; /* of the forms: clusters may have libraries of different versions */
  MPI_Allreduce(&here, &in_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (int w = 0; w < kWays; ++w) {
    Meeting meeting = meet(&ways[w], 3);
    m = &meeting;
    what = ways[w].name;
    for (int form = 0; m->side >= 0 && form < in_all; ++form) {
      barrier(form);
      for (int side = 0; side < 2; ++side)
        for (int root = 0; root < world_size; ++root) rooted(form, side, root);
      all(form);
    }
    if (m->side >= 0) {
      in_order();
      overlapping();
      errors();
    }
    part(&meeting);
  }
  free(given);
  free(scratch);
  return finish("collectives between two sides");
}
