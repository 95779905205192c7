/* CG, "conjugate gradient": the smallest eigenvalue of a large sparse matrix by inverse iteration,
 * 25 steps of conjugate gradients in each.
 *
 * Communication, all point to point, in each of 25 steps of each iteration: sums along a row of
 * processes by halving (in class B on 16 ranks 75 and 38 KB at a time), a transposition, the pieces
 * put together along a column by doubling, and two sums of one number over all ranks in log2(ranks)
 * exchanges of 8 bytes. Exchanges never overlap: each one waits for the wide area. Ranks are powers
 * of two.
 *
 * Processes stand in R rows and C columns; each has a block of the matrix. A vector is cut into one
 * piece for each rank; process (r, c) has piece r C + c of what is the matrix's result, and to
 * multiply it needs pieces c R to c R + R - 1, all that its columns meet. */
#include "nas.h"

enum { STEPS = 25 };
static const int ORDER[CLASSES] = {1400, 7000, 14000, 75000};
static const int NONZEROS[CLASSES] = {7, 8, 11, 13};
static const int ITERATIONS[CLASSES] = {15, 15, 15, 75};
static const double SHIFT[CLASSES] = {10, 12, 20, 60};
static const double CONDITION = 0.1;
static const uint64_t SEED = 314159265;

/* Published: the eigenvalue's estimate, to 1e-10. */
static const double ZETA[CLASSES] = {8.5971775078648, 10.362595087124, 17.130235054029,
                                     22.712745482631};

static int rows, columns, row, column; /* of processes */
static int piece;                      /* numbers of a vector that each rank has */
static int row_begin, row_end, column_begin, column_end; /* of the matrix's block, here */

/* -- the matrix, in rows of its values and their columns ----------------------------------------
 */

static int* starts; /* of the block's rows */
static int* places; /* columns, counted from column_begin */
static double* values;

/* A sparse vector; `index` counts from 0. */
typedef struct {
  int count;
  int* index;
  double* value;
} Sparse;

/* The `number`-th random vector: `nonzeros` values at places that all differ, and 0.5 at `number`.
 */
static void make_vector(uint64_t* state, int number, int order, int nonzeros, Sparse* vector) {
  int limit = 1, own = -1;
  while (limit < order) limit *= 2;
  vector->count = 0;
  while (vector->count < nonzeros) {
    const double value = draw(state);
    const int place = (int)(draw(state) * limit);
    int known = place >= order;
    for (int i = 0; i < vector->count && !known; ++i) known = vector->index[i] == place;
    if (known) continue;
    vector->index[vector->count] = place;
    vector->value[vector->count++] = value;
  }
  for (int i = 0; i < vector->count; ++i)
    if (vector->index[i] == number) own = i;
  if (own < 0) own = vector->count++;
  vector->index[own] = number;
  vector->value[own] = 0.5;
}

static int in_rows(int i) { return i >= row_begin && i < row_end; }
static int in_columns(int i) { return i >= column_begin && i < column_end; }

typedef struct {
  int place;
  double value;
} Element;

static int by_place(const void* a, const void* b) {
  const Element *left = a, *right = b;
  return (left->place > right->place) - (left->place < right->place);
}

/* Sorts a row and adds up elements of the same place; how many are left. */
static int merge(Element* elements, int count) {
  int kept = 0;
  qsort(elements, (size_t)count, sizeof(Element), by_place);
  for (int i = 0; i < count; ++i) {
    if (kept && elements[kept - 1].place == elements[i].place)
      elements[kept - 1].value += elements[i].value;
    else
      elements[kept++] = elements[i];
  }
  return kept;
}

/* The sum of outer products of all vectors with themselves, whose weights fall evenly from 1 to
 * CONDITION; and CONDITION - SHIFT on the diagonal. Each rank draws all vectors and keeps its
 * block. */
static void make_matrix(void) {
  const int order = ORDER[class_number], nonzeros = NONZEROS[class_number], wide = nonzeros + 1;
  const double ratio = pow(CONDITION, 1.0 / order);
  int* index = need((size_t)order * (size_t)wide, sizeof(int));
  double* value = need((size_t)order * (size_t)wide, sizeof(double));
  int* counts = need((size_t)order, sizeof(int));
  uint64_t state = skip(SEED, 1);
  const int height = row_end - row_begin;
  size_t* begins = need((size_t)height + 1, sizeof(size_t));
  for (int i = 0; i < order; ++i) {
    Sparse vector = {0, index + (size_t)i * (size_t)wide, value + (size_t)i * (size_t)wide};
    make_vector(&state, i, order, nonzeros, &vector);
    counts[i] = vector.count;
    int across = 0;
    for (int k = 0; k < vector.count; ++k) across += in_columns(vector.index[k]);
    for (int k = 0; k < vector.count; ++k)
      if (in_rows(vector.index[k])) begins[vector.index[k] - row_begin + 1] += (size_t)across;
    if (in_rows(i) && in_columns(i)) ++begins[i - row_begin + 1];
  }
  for (int i = 0; i < height; ++i) begins[i + 1] += begins[i];
  Element* elements = need(begins[height], sizeof(Element));
  size_t* ends = need((size_t)height + 1, sizeof(size_t));
  memcpy(ends, begins, ((size_t)height + 1) * sizeof(size_t));
  double weight = 1;
  for (int i = 0; i < order; ++i, weight *= ratio) {
    const int* at = index + (size_t)i * (size_t)wide;
    const double* of = value + (size_t)i * (size_t)wide;
    for (int k = 0; k < counts[i]; ++k) {
      if (!in_rows(at[k])) continue;
      for (int l = 0; l < counts[i]; ++l)
        if (in_columns(at[l]))
          elements[ends[at[k] - row_begin]++] = (Element){at[l], weight * of[k] * of[l]};
    }
    if (in_rows(i) && in_columns(i))
      elements[ends[i - row_begin]++] = (Element){i, CONDITION - SHIFT[class_number]};
  }
  starts = need((size_t)height + 1, sizeof(int));
  places = need(begins[height], sizeof(int));
  values = need(begins[height], sizeof(double));
  for (int i = 0; i < height; ++i) {
    const int kept = merge(elements + begins[i], (int)(ends[i] - begins[i]));
    for (int k = 0; k < kept; ++k) {
      places[starts[i] + k] = elements[begins[i] + (size_t)k].place - column_begin;
      values[starts[i] + k] = elements[begins[i] + (size_t)k].value;
    }
    starts[i + 1] = starts[i] + kept;
  }
  free(index), free(value), free(counts), free(begins), free(ends), free(elements);
}

/* -- communication ------------------------------------------------------------------------------
 */

static double *sums, *arrived; /* as long as the block is high */
static double* spread;         /* as long as it is wide */

static void swap_numbers(const double* out, double* in, int count, int peer) {
  MPI_Sendrecv(out, count, MPI_DOUBLE, peer, 0, in, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/* The sum over all ranks, on each. */
static double sum_over_all(double value) {
  for (int distance = 1; distance < ranks; distance *= 2) {
    double other;
    swap_numbers(&value, &other, 1, rank ^ distance);
    value += other;
  }
  return value;
}

/* Adds up `sums` along the row of processes; this rank's piece of it is then in `result`. In each
 * step a process keeps the half that holds its piece, and adds its partner's. */
static void sum_along_row(double* result) {
  int begin_piece = 0;
  for (int count = columns / 2; count >= 1; count /= 2) {
    const int upper = (column & count) != 0;
    const int keep = begin_piece + (upper ? count : 0), give = begin_piece + (upper ? 0 : count);
    swap_numbers(sums + give * piece, arrived, count * piece, row * columns + (column ^ count));
    for (int i = 0; i < count * piece; ++i) sums[keep * piece + i] += arrived[i];
    begin_piece = keep;
  }
  memcpy(result, sums + begin_piece * piece, (size_t)piece * sizeof(double));
}

/* Puts into `spread` what this process's columns meet of a vector of which each rank has a piece.
 */
static void spread_to_columns(const double* vector) {
  const int to = rank % rows * columns + rank / rows; /* it needs this rank's piece first */
  const int from = column * rows + row;
  MPI_Sendrecv(vector, piece, MPI_DOUBLE, to, 1, spread + row * piece, piece, MPI_DOUBLE, from, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int count = 1; count < rows; count *= 2) {
    const int have = row & ~(count - 1), want = have ^ count;
    swap_numbers(spread + have * piece, spread + want * piece, count * piece,
                 (row ^ count) * columns + column);
  }
}

/* -- the method ---------------------------------------------------------------------------------
 */

static void multiply(const double* vector, double* result) {
  spread_to_columns(vector);
  for (int i = 0; i < row_end - row_begin; ++i) {
    double sum = 0;
    for (int k = starts[i]; k < starts[i + 1]; ++k) sum += values[k] * spread[places[k]];
    sums[i] = sum;
  }
  sum_along_row(result);
}

static double product(const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < piece; ++i) sum += a[i] * b[i];
  return sum_over_all(sum);
}

/* Solves A z = x, roughly. */
static void solve(const double* x, double* z, double* r, double* p, double* q) {
  for (int i = 0; i < piece; ++i) z[i] = 0, r[i] = p[i] = x[i];
  double rho = product(r, r);
  for (int step = 0; step < STEPS; ++step) {
    multiply(p, q);
    const double alpha = rho / product(p, q), before = rho;
    for (int i = 0; i < piece; ++i) z[i] += alpha * p[i], r[i] -= alpha * q[i];
    rho = product(r, r);
    for (int i = 0; i < piece; ++i) p[i] = r[i] + rho / before * p[i];
  }
}

static int least(int a, int b) { return a < b ? a : b; }

int main(int argc, char** argv) {
  begin(&argc, &argv, "CG");
  const int power = need_power_of_two(1 << 10), order = ORDER[class_number];
  rows = 1 << power / 2, columns = ranks / rows;
  row = rank / columns, column = rank % columns;
  piece = (order + ranks - 1) / ranks;
  row_begin = least(order, row * columns * piece);
  row_end = least(order, (row + 1) * columns * piece);
  column_begin = least(order, column * rows * piece);
  column_end = least(order, (column + 1) * rows * piece);
  make_matrix();
  sums = need((size_t)columns * (size_t)piece, sizeof(double));
  arrived = need((size_t)columns * (size_t)piece, sizeof(double));
  spread = need((size_t)rows * (size_t)piece, sizeof(double));
  double* work = need((size_t)piece * 5, sizeof(double));
  double *x = work, *z = x + piece, *r = z + piece, *p = r + piece, *q = p + piece, zeta = 0;
  for (int i = 0; i < piece; ++i) x[i] = rank * piece + i < order;

  start_clock();
  for (int iteration = 0; iteration < ITERATIONS[class_number]; ++iteration) {
    solve(x, z, r, p, q);
    zeta = SHIFT[class_number] + 1 / product(x, z);
    const double length = 1 / sqrt(product(z, z));
    for (int i = 0; i < piece; ++i) x[i] = length * z[i];
  }
  const double seconds = stop_clock();

  const double wanted = ZETA[class_number];
  return finish(seconds, rank > 0 || agrees("zeta", zeta, wanted, 1e-10 / wanted));
}
