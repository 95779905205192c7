/* Accumulates of every operation on elements of many datatypes, in a row, scattered and in structs:
   as MPI_Reduce_local computes them. Puts and gets of derived datatypes.
   ranks: 2 4 */
#include <complex.h>

#include "rma.h"

#define COUNT 50

enum kind { INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLT, DBL, LDBL, CFLT, CDBL };
static const size_t size_of_kind[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, sizeof(long double), 8, 16};

struct type {
  const char* name;
  MPI_Datatype type;
  enum kind value;
  long index; /* of a pair: where its int is; else 0 */
  size_t extent;
};

static void set(enum kind kind, void* at, int value) {
  switch (kind) {
    case INT8: *(signed char*)at = (signed char)value; break;
    case INT16: *(short*)at = (short)value; break;
    case INT32: *(int*)at = value; break;
    case INT64: *(long*)at = value; break;
    case UINT8: *(unsigned char*)at = (unsigned char)value; break;
    case UINT16: *(unsigned short*)at = (unsigned short)value; break;
    case UINT32: *(unsigned*)at = (unsigned)value; break;
    case UINT64: *(unsigned long*)at = (unsigned long)value; break;
    case FLT: *(float*)at = (float)value; break;
    case DBL: *(double*)at = value; break;
    case LDBL: *(long double*)at = value; break;
    case CFLT: *(float complex*)at = (float)value + (float)(value % 3) * I; break;
    case CDBL: *(double complex*)at = value + value % 3 * I; break;
  }
}

static int same(enum kind kind, const void* a, const void* b) {
  /* Zeros have signs, long doubles bytes without a meaning. */
  if (kind == LDBL) return *(const long double*)a == *(const long double*)b;
  if (kind == FLT) return *(const float*)a == *(const float*)b;
  if (kind == DBL) return *(const double*)a == *(const double*)b;
  if (kind == CFLT) return *(const float complex*)a == *(const float complex*)b;
  if (kind == CDBL) return *(const double complex*)a == *(const double complex*)b;
  return memcmp(a, b, size_of_kind[kind]) == 0;
}

static void fill(const struct type* t, char* buffer, unsigned seed) {
  memset(buffer, 0, COUNT * t->extent);
  for (int i = 0; i < COUNT; ++i) {
    int value = (int)draw(&seed, 4);
    if (t->value < UINT8 || t->value > UINT64) value -= 1;
    set(t->value, buffer + (size_t)i * t->extent, value);
    if (t->index > 0) set(INT32, buffer + (size_t)i * t->extent + t->index, (int)draw(&seed, 100));
  }
}

static void check(const struct type* t, const char* op, const char* got, const char* expected) {
  for (int i = 0; i < COUNT; ++i) {
    const char *g = got + (size_t)i * t->extent, *e = expected + (size_t)i * t->extent;
    CHECK(same(t->value, g, e) && (t->index == 0 || memcmp(g + t->index, e + t->index, 4) == 0),
          "%s of %s: element %d is wrong", op, t->name, i);
  }
}

static char window_memory[COUNT * 64], origin[COUNT * 64], expected[COUNT * 64], before[COUNT * 64];

static void combine(const struct type* t, MPI_Op op, const char* name, MPI_Datatype target,
                    int count, MPI_Win win) {
  for (int owner = 0; owner < world_size; owner += world_size - 1) {
    MPI_Win_fence(0, win);
    fill(t, window_memory, 99u + (unsigned)world_rank);
    MPI_Win_fence(0, win);
    fill(t, origin, 5u + (unsigned)world_rank);
    MPI_Accumulate(origin, COUNT, t->type, owner, 0, count, target, op, win);
    MPI_Win_fence(0, win);
    if (world_rank != owner) continue;
    fill(t, expected, 99u + (unsigned)world_rank);
    for (int r = 0; r < world_size; ++r) {
      fill(t, origin, 5u + (unsigned)r);
      MPI_Reduce_local(origin, expected, COUNT, t->type, op);
    }
    check(t, name, window_memory, expected);
  }
}

/* MPI_REPLACE and MPI_NO_OP, by one rank; what was there before. */
static void exchange(const struct type* t, MPI_Win win) {
  const int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
  MPI_Win_fence(0, win);
  fill(t, window_memory, 7u + (unsigned)world_rank);
  MPI_Win_fence(0, win);
  memset(before, 0, sizeof before);
  fill(t, origin, 70u + (unsigned)world_rank);
  MPI_Get_accumulate(origin, COUNT, t->type, before, COUNT, t->type, next, 0, COUNT, t->type,
                     MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  fill(t, expected, 7u + (unsigned)next);
  check(t, "before MPI_REPLACE", before, expected);
  fill(t, expected, 70u + (unsigned)last);
  check(t, "MPI_REPLACE", window_memory, expected);
  MPI_Win_fence(0, win);
  memset(before, 0, sizeof before);
  MPI_Get_accumulate(NULL, 0, t->type, before, COUNT, t->type, next, 0, COUNT, t->type, MPI_NO_OP,
                     win);
  MPI_Win_fence(0, win);
  fill(t, expected, 70u + (unsigned)world_rank);
  check(t, "MPI_NO_OP", before, expected);
}

/* The same elements, backwards in blocks, as a derived datatype: the result is the same since every
   element is named once. */
static MPI_Datatype scattered(const struct type* t) {
  int lengths[2] = {COUNT / 2, COUNT - COUNT / 2}, places[2] = {0, COUNT / 2};
  MPI_Datatype indexed;
  MPI_Type_indexed(2, lengths, places, t->type, &indexed);
  MPI_Type_commit(&indexed);
  return indexed;
}

struct named {
  MPI_Op op;
  const char* name;
};

static void numbers(const struct type* t, const struct named* ops, int count, MPI_Win win) {
  for (int o = 0; o < count; ++o) {
    combine(t, ops[o].op, ops[o].name, t->type, COUNT, win);
    MPI_Datatype derived = scattered(t);
    combine(t, ops[o].op, ops[o].name, derived, 1, win);
    MPI_Type_free(&derived);
  }
  exchange(t, win);
}

/* Columns of a matrix go into rows, and back. */
static void matrices(void) {
  enum { N = 60 };
  static int mine[N][N], theirs[N][N], there[N][N];
  MPI_Win win;
  MPI_Win_create(there, sizeof there, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Datatype column, transposed, every_second;
  MPI_Type_vector(N, 1, N, MPI_INT, &column);
  MPI_Type_create_hvector(N, 1, sizeof(int), column, &transposed);
  MPI_Type_commit(&transposed);
  MPI_Type_vector(N * N / 2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  const int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      mine[i][j] = world_rank * 10000 + i * N + j;
      there[i][j] = -1;
    }
  MPI_Win_fence(0, win);
  MPI_Put(mine, N * N, MPI_INT, next, 0, 1, transposed, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      CHECK(there[j][i] == last * 10000 + i * N + j, "%d,%d is %d", i, j, there[j][i]);
  MPI_Win_fence(0, win);
  MPI_Get(theirs, 1, transposed, next, 0, N * N, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      CHECK(theirs[i][j] == mine[i][j], "%d,%d came back as %d", i, j, theirs[i][j]);
  memset(theirs, 0, sizeof theirs);
  MPI_Get(theirs, N * N / 2, MPI_INT, next, 1, 1, every_second, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < N * N / 2; ++i) {
    const int at = 2 * i + 1;
    const int got = theirs[i / N][i % N];
    CHECK(got == mine[at % N][at / N], "element %d is %d", i, got);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&transposed);
  MPI_Type_free(&every_second);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Win win;
  MPI_Win_create(window_memory, sizeof window_memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const struct named arithmetic[] = {{MPI_SUM, "MPI_SUM"}, {MPI_PROD, "MPI_PROD"}};
  const struct named ordered[] = {{MPI_MAX, "MPI_MAX"}, {MPI_MIN, "MPI_MIN"}};
  const struct named bits[] = {{MPI_LAND, "MPI_LAND"}, {MPI_LOR, "MPI_LOR"},
                               {MPI_LXOR, "MPI_LXOR"}, {MPI_BAND, "MPI_BAND"},
                               {MPI_BOR, "MPI_BOR"},   {MPI_BXOR, "MPI_BXOR"}};
  const struct named located[] = {{MPI_MAXLOC, "MPI_MAXLOC"}, {MPI_MINLOC, "MPI_MINLOC"}};
  const struct type integers[] = {{"MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, INT8, 0, 1},
                                  {"MPI_SHORT", MPI_SHORT, INT16, 0, 2},
                                  {"MPI_INT", MPI_INT, INT32, 0, 4},
                                  {"MPI_LONG", MPI_LONG, INT64, 0, 8},
                                  {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, UINT8, 0, 1},
                                  {"MPI_UINT16_T", MPI_UINT16_T, UINT16, 0, 2},
                                  {"MPI_UNSIGNED", MPI_UNSIGNED, UINT32, 0, 4},
                                  {"MPI_UINT64_T", MPI_UINT64_T, UINT64, 0, 8}};
  const struct type reals[] = {{"MPI_FLOAT", MPI_FLOAT, FLT, 0, 4},
                               {"MPI_DOUBLE", MPI_DOUBLE, DBL, 0, 8},
                               {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, LDBL, 0, sizeof(long double)}};
  const struct type complexes[] = {{"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, CFLT, 0, 8},
                                   {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, CDBL, 0, 16}};
  const struct type pairs[] = {{"MPI_2INT", MPI_2INT, INT32, 4, 8},
                               {"MPI_SHORT_INT", MPI_SHORT_INT, INT16, 4, 8},
                               {"MPI_LONG_INT", MPI_LONG_INT, INT64, 8, 16},
                               {"MPI_FLOAT_INT", MPI_FLOAT_INT, FLT, 4, 8},
                               {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, DBL, 8, 16}};
  for (int i = 0; i < 8; ++i) {
    numbers(&integers[i], arithmetic, 2, win);
    numbers(&integers[i], ordered, 2, win);
    numbers(&integers[i], bits, 6, win);
  }
  for (int i = 0; i < 3; ++i) {
    numbers(&reals[i], arithmetic, 2, win);
    numbers(&reals[i], ordered, 2, win);
  }
  for (int i = 0; i < 2; ++i) numbers(&complexes[i], arithmetic, 2, win);
  for (int i = 0; i < 5; ++i) numbers(&pairs[i], located, 2, win);
  MPI_Win_free(&win);
  matrices();
  MPI_Finalize();
  return 0;
}
