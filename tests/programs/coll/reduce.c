/* Reductions and scans: predefined and user operations (one that does not commute), datatypes with
   gaps, in place and not, every root, blocking and not. ranks: 2 3 5 */
#include "check.h"

/* x -> a x + b modulo 2^32; composed in rank order. `gap` is never touched. */
struct map {
  unsigned a, gap, b;
};
static MPI_Datatype map_type, packed_map_type;
static MPI_Op compose, add_pairs;

static struct map map_of(int rank, int i) {
  const struct map m = {(unsigned)(2 * rank + 3), 0, (unsigned)(rank * rank + 31 * i + 17)};
  return m;
}
static struct map then(struct map left, struct map right) {
  const struct map m = {left.a * right.a, right.gap, right.a * left.b + right.b};
  return m;
}
static void compose_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) {
    struct map* right = (struct map*)inout + i;
    *right = then(((struct map*)in)[i], *right);
  }
}
/* On plain pairs of unsigned: a, b. Commutes. */
static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 2 * *length; ++i) ((unsigned*)inout)[i] += ((unsigned*)in)[i];
}

struct place {
  double value;
  int index;
};

enum { SUM_INT, MAX_DOUBLE, XOR, MIN_PLACE, COMPOSE, ADD, CASES };
static const char* const names[CASES] = {"MPI_SUM of int",    "MPI_MAX of double",
                                         "MPI_BXOR of short", "MPI_MINLOC of double and int",
                                         "composed maps",     "added pairs"};
static size_t extent_of(int c) {
  static const size_t extents[CASES] = {sizeof(int),        sizeof(double),
                                        sizeof(short),      sizeof(struct place),
                                        sizeof(struct map), 2 * sizeof(unsigned)};
  return extents[c];
}
static MPI_Datatype type_of(int c) {
  switch (c) {
    case SUM_INT:
      return MPI_INT;
    case MAX_DOUBLE:
      return MPI_DOUBLE;
    case XOR:
      return MPI_SHORT;
    case MIN_PLACE:
      return MPI_DOUBLE_INT;
    case COMPOSE:
      return map_type;
    default:
      return packed_map_type;
  }
}
static MPI_Op op_of(int c) {
  switch (c) {
    case SUM_INT:
      return MPI_SUM;
    case MAX_DOUBLE:
      return MPI_MAX;
    case XOR:
      return MPI_BXOR;
    case MIN_PLACE:
      return MPI_MINLOC;
    case COMPOSE:
      return compose;
    default:
      return add_pairs;
  }
}

/* Element i of the reduction of ranks first..last. */
static void reduced(int c, int first, int last, int i, void* out) {
  memset(out, 0, extent_of(c));
  struct map m = map_of(first, i);
  int sum = 0;
  unsigned pair[2] = {0, 0};
  short bits = 0;
  double most = -1;
  struct place least;
  memset(&least, 0, sizeof least);
  least.value = 1e9;
  for (int r = first; r <= last; ++r) {
    const double number = (r * 7 + i * 3) % 11;
    if (r > first) m = then(m, map_of(r, i));
    sum += value(r, 0, i);
    pair[0] += (unsigned)(r + i);
    pair[1] += (unsigned)(r * 5);
    bits = (short)(bits ^ (short)(r * 291 + i));
    if (number > most) most = number;
    if (number < least.value) {
      least.value = number;
      least.index = r;
    }
  }
  switch (c) {
    case SUM_INT:
      memcpy(out, &sum, sizeof sum);
      break;
    case MAX_DOUBLE:
      memcpy(out, &most, sizeof most);
      break;
    case XOR:
      memcpy(out, &bits, sizeof bits);
      break;
    case MIN_PLACE:
      memcpy(out, &least, sizeof least);
      break;
    case COMPOSE:
      memcpy(out, &m, sizeof m);
      break;
    default:
      memcpy(out, pair, sizeof pair);
  }
}

static void* operands(int c, int rank, int count) {
  char* buffer = calloc((size_t)count + 1, extent_of(c));
  for (int i = 0; i < count; ++i) reduced(c, rank, rank, i, buffer + (size_t)i * extent_of(c));
  return buffer;
}
static void* results(int c, int count) { return calloc((size_t)count + 1, extent_of(c)); }

static void expect_reduced(int c, const void* got, int first, int last, int from, int count) {
  char wanted[64], untouched[64] = "";
  for (int i = 0; i < count; ++i) {
    reduced(c, first, last, from + i, wanted);
    CHECK(memcmp((const char*)got + (size_t)i * extent_of(c), wanted, extent_of(c)) == 0,
          "element %d over ranks %d to %d is wrong", from + i, first, last);
  }
  CHECK(memcmp((const char*)got + (size_t)count * extent_of(c), untouched, extent_of(c)) == 0,
        "wrote beyond the end");
}

static void reduce(MPI_Comm comm, int rank, int size, int c, int root, int count, int in_place) {
  char* in = operands(c, rank, count);
  char* out = results(c, count);
  const int placed = in_place && rank == root;
  RUN(Reduce, Ireduce, placed ? MPI_IN_PLACE : in,
      placed         ? in
      : rank == root ? out
                     : NULL,
      count, type_of(c), op_of(c), root, comm);
  if (rank == root) expect_reduced(c, placed ? in : out, 0, size - 1, 0, count);
  if (!placed) expect_reduced(c, in, rank, rank, 0, count);
  free(in);
  free(out);
}

static void to_all(MPI_Comm comm, int rank, int size, int c, int count, int in_place) {
  for (int form = 0; form < 3; ++form) {
    char* in = operands(c, rank, count);
    char* out = results(c, count);
    char* got = in_place ? in : out;
    const void* from = in_place ? MPI_IN_PLACE : in;
    if (form == 0) {
      RUN(Allreduce, Iallreduce, from, got, count, type_of(c), op_of(c), comm);
      expect_reduced(c, got, 0, size - 1, 0, count);
    } else if (form == 1) {
      RUN(Scan, Iscan, from, got, count, type_of(c), op_of(c), comm);
      expect_reduced(c, got, 0, rank, 0, count);
    } else {
      RUN(Exscan, Iexscan, from, got, count, type_of(c), op_of(c), comm);
      if (rank > 0) expect_reduced(c, got, 0, rank - 1, 0, count);
    }
    free(in);
    free(out);
  }
}

static void reduce_scatter(MPI_Comm comm, int rank, int size, int c, int base, int in_place) {
  int counts[64], before = 0, all = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = uneven(i, base);
    if (i < rank) before += counts[i];
    all += counts[i];
  }
  char* in = operands(c, rank, all);
  char* out = results(c, counts[rank]);
  RUN(Reduce_scatter, Ireduce_scatter, in_place ? MPI_IN_PLACE : in, in_place ? in : out, counts,
      type_of(c), op_of(c), comm);
  if (in_place) memcpy(out, in, (size_t)counts[rank] * extent_of(c));
  expect_reduced(c, out, 0, size - 1, before, counts[rank]);
  free(in);
  free(out);

  in = operands(c, rank, base * size);
  out = results(c, base);
  RUN(Reduce_scatter_block, Ireduce_scatter_block, in_place ? MPI_IN_PLACE : in,
      in_place ? in : out, base, type_of(c), op_of(c), comm);
  if (in_place) memcpy(out, in, (size_t)base * extent_of(c));
  expect_reduced(c, out, 0, size - 1, base * rank, base);
  free(in);
  free(out);
}

static void test(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (mode = 0; mode < MODES; ++mode) {
    for (int c = 0; c < CASES; ++c) {
      with = names[c];
      for (int count = 0; count < 6; count += 5) {
        for (int in_place = 0; in_place < 2; ++in_place) {
          for (int root = 0; root < size; ++root) {
            reduce(comm, rank, size, c, root, count, in_place);
          }
          to_all(comm, rank, size, c, count, in_place);
          reduce_scatter(comm, rank, size, c, count, in_place);
        }
      }
      to_all(comm, rank, size, c, 40000, 0);
    }
  }
  mode = 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Type_create_indexed_block(2, 1, (int[]){0, 2}, MPI_UNSIGNED, &map_type);
  MPI_Type_commit(&map_type);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &packed_map_type);
  MPI_Type_commit(&packed_map_type);
  MPI_Op_create(compose_maps, 0, &compose);
  MPI_Op_create(add, 1, &add_pairs);
  on_communicators(test);
  MPI_Op_free(&compose);
  MPI_Op_free(&add_pairs);
  MPI_Type_free(&map_type);
  MPI_Type_free(&packed_map_type);
  return finish("reduce");
}
