/* Equations along all lines of one direction of the cube, each from one wall to the other. They are
   solved by elimination forth and substitution back, through all processes that a line passes.
 *
 * Lines go in bundles: while one process works on a bundle, the next one works on that before it.
 */
#ifndef ISTHMUS_LINES_H
#define ISTHMUS_LINES_H

#include "flow.h"

enum { BUNDLES = 8 };

/* Goes along `count` points from `at` on, the first at `place` of the line; `carried` is what it
 * needs of the points behind it (zeros at a wall) and leaves for those ahead. Back it goes from the
 * last. */
typedef void Pass(int d, size_t at, int place, int count, double* carried);

typedef struct {
  int d, along, across; /* lines stand side by side in the direction `along`, bundles in `across` */
} Lines;

static Lines lines_of(int d) { return (Lines){d, d == 0 ? 1 : 0, d == 2 ? 1 : 2}; }

static size_t line_at(const Lines* lines, int a, int b) {
  int at[3];
  at[lines->d] = inner_begin[lines->d];
  at[lines->along] = inner_begin[lines->along] + a;
  at[lines->across] = inner_begin[lines->across] + b;
  return point(at[0], at[1], at[2]);
}

/* `step` 1 is forth, -1 back; `numbers` are carried by each line. */
static void pass_lines(int d, int step, int numbers, Pass* pass) {
  const Lines lines = lines_of(d);
  const int wide = inner_end[lines.along] - inner_begin[lines.along];
  const int deep = inner_end[lines.across] - inner_begin[lines.across];
  const int count = inner_end[d] - inner_begin[d];
  const int from = d < 2 ? neighbour(d, -step) : MPI_PROC_NULL;
  const int to = d < 2 ? neighbour(d, step) : MPI_PROC_NULL;
  const size_t row = (size_t)wide * (size_t)numbers;
  double* carried = need((size_t)deep * row, sizeof(double));
  MPI_Request sent[BUNDLES];
  for (int bundle = 0; bundle < BUNDLES; ++bundle) {
    const int begin_b = (int)share_begin(deep, BUNDLES, bundle);
    const int end_b = (int)share_begin(deep, BUNDLES, bundle + 1);
    double* first_of = carried + (size_t)begin_b * row;
    const int all = (end_b - begin_b) * (int)row;
    MPI_Recv(first_of, all, MPI_DOUBLE, from, bundle, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int b = begin_b; b < end_b; ++b)
      for (int a = 0; a < wide; ++a)
        pass(d, line_at(&lines, a, b), first[d] + inner_begin[d], count,
             carried + (size_t)b * row + (size_t)a * (size_t)numbers);
    MPI_Isend(first_of, all, MPI_DOUBLE, to, bundle, MPI_COMM_WORLD, &sent[bundle]);
  }
  MPI_Waitall(BUNDLES, sent, MPI_STATUSES_IGNORE);
  free(carried);
}

#endif
