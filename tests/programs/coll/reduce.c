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
static struct {
  const char* name;
  size_t extent;
  MPI_Datatype type;
  MPI_Op op;
} cases[CASES];

static void set_case(int c, const char* name, size_t extent, MPI_Datatype type, MPI_Op op) {
  cases[c].name = name;
  cases[c].extent = extent;
  cases[c].type = type;
  cases[c].op = op;
}

/* Element i of the reduction of ranks first..last. */
static void reduced(int c, int first, int last, int i, void* out) {
  memset(out, 0, cases[c].extent);
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
  const void* const all[CASES] = {&sum, &most, &bits, &least, &m, pair};
  memcpy(out, all[c], cases[c].extent);
}

static void* operands(int c, int rank, int count) {
  char* buffer = calloc((size_t)count + 1, cases[c].extent);
  for (int i = 0; i < count; ++i) reduced(c, rank, rank, i, buffer + (size_t)i * cases[c].extent);
  return buffer;
}
static void* results(int c, int count) { return calloc((size_t)count + 1, cases[c].extent); }

static void expect_reduced(int c, const void* got, int first, int last, int from, int count) {
  char wanted[64], untouched[64] = "";
  for (int i = 0; i < count; ++i) {
    reduced(c, first, last, from + i, wanted);
    CHECK(memcmp((const char*)got + (size_t)i * cases[c].extent, wanted, cases[c].extent) == 0,
          "element %d over ranks %d to %d is wrong", from + i, first, last);
  }
  CHECK(memcmp((const char*)got + (size_t)count * cases[c].extent, untouched, cases[c].extent) == 0,
        "wrote beyond the end");
}

static void reduce(MPI_Comm comm, int c, int root, int count, int in_place) {
  char* in = operands(c, rank, count);
  char* out = results(c, count);
  const int placed = in_place && rank == root;
  RUN(Reduce, Ireduce, placed ? MPI_IN_PLACE : in,
      placed         ? in
      : rank == root ? out
                     : NULL,
      count, cases[c].type, cases[c].op, root, comm);
  if (rank == root) expect_reduced(c, placed ? in : out, 0, size - 1, 0, count);
  if (!placed) expect_reduced(c, in, rank, rank, 0, count);
  free(in);
  free(out);
}

static void to_all(MPI_Comm comm, int c, int count, int in_place) {
  for (int form = 0; form < 3; ++form) {
    char* in = operands(c, rank, count);
    char* out = results(c, count);
    char* got = in_place ? in : out;
    const void* from = in_place ? MPI_IN_PLACE : in;
    if (form == 0) {
      RUN(Allreduce, Iallreduce, from, got, count, cases[c].type, cases[c].op, comm);
      expect_reduced(c, got, 0, size - 1, 0, count);
    } else if (form == 1) {
      RUN(Scan, Iscan, from, got, count, cases[c].type, cases[c].op, comm);
      expect_reduced(c, got, 0, rank, 0, count);
    } else {
      RUN(Exscan, Iexscan, from, got, count, cases[c].type, cases[c].op, comm);
      if (rank > 0) expect_reduced(c, got, 0, rank - 1, 0, count);
    }
    free(in);
    free(out);
  }
}

static void reduce_scatter(MPI_Comm comm, int c, int base, int in_place) {
  int counts[64], before = 0, all = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = uneven(i, base);
    if (i < rank) before += counts[i];
    all += counts[i];
  }
  char* in = operands(c, rank, all);
  char* out = results(c, counts[rank]);
  RUN(Reduce_scatter, Ireduce_scatter, in_place ? MPI_IN_PLACE : in, in_place ? in : out, counts,
      cases[c].type, cases[c].op, comm);
  if (in_place) memcpy(out, in, (size_t)counts[rank] * cases[c].extent);
  expect_reduced(c, out, 0, size - 1, before, counts[rank]);
  free(in);
  free(out);

  in = operands(c, rank, base * size);
  out = results(c, base);
  RUN(Reduce_scatter_block, Ireduce_scatter_block, in_place ? MPI_IN_PLACE : in,
      in_place ? in : out, base, cases[c].type, cases[c].op, comm);
  if (in_place) memcpy(out, in, (size_t)base * cases[c].extent);
  expect_reduced(c, out, 0, size - 1, base * rank, base);
  free(in);
  free(out);
}

static void test(MPI_Comm comm) {
  for (mode = 0; mode < MODES; ++mode) {
    for (int c = 0; c < CASES; ++c) {
      with = cases[c].name;
      for (int count = 0; count < 6; count += 5) {
        for (int in_place = 0; in_place < 2; ++in_place) {
          for (int root = 0; root < size; ++root) reduce(comm, c, root, count, in_place);
          to_all(comm, c, count, in_place);
          reduce_scatter(comm, c, count, in_place);
        }
      }
      to_all(comm, c, 40000, 0);
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
  set_case(SUM_INT, "MPI_SUM of int", sizeof(int), MPI_INT, MPI_SUM);
  set_case(MAX_DOUBLE, "MPI_MAX of double", sizeof(double), MPI_DOUBLE, MPI_MAX);
  set_case(XOR, "MPI_BXOR of short", sizeof(short), MPI_SHORT, MPI_BXOR);
  set_case(MIN_PLACE, "MPI_MINLOC of double and int", sizeof(struct place), MPI_DOUBLE_INT,
           MPI_MINLOC);
  set_case(COMPOSE, "composed maps", sizeof(struct map), map_type, compose);
  set_case(ADD, "added pairs", 2 * sizeof(unsigned), packed_map_type, add_pairs);
  on_communicators(test);
  MPI_Op_free(&compose);
  MPI_Op_free(&add_pairs);
  MPI_Type_free(&map_type);
  MPI_Type_free(&packed_map_type);
  return finish("reduce");
}
