/* EP, "embarrassingly parallel": pairs of Gaussian deviates out of uniform ones.
 *
 * Communication: none but one allreduce of 96 bytes at the end, of sums and counts. A grid costs
 * only its beginning and end here. Any number of ranks. */
#include "nas.h"

static const int LOG_PAIRS[CLASSES] = {24, 25, 28, 30};
static const uint64_t SEED = 271828183;

/* Published: the sums of the deviates, to a relative error of 1e-8. */
static const double SUMS[CLASSES][2] = {
    {-3.247834652034740e+3, -6.958407078382297e+3},
    {-2.863319731645753e+3, -6.320053679109499e+3},
    {-4.295875165629892e+3, -1.580732573678431e+4},
    {4.033815542441498e+4, -2.660669192809235e+4},
};

enum { SUM_X, SUM_Y, RINGS = 2, FIGURES = RINGS + 10 };

/* Adds up `pairs` pairs after the first `before`: the deviates, and how many fall in each square
 * ring of width one around the origin. */
static void tally(int64_t before, int64_t pairs, double* figures) {
  uint64_t state = skip(SEED, 2 * (uint64_t)before);
  for (int64_t i = 0; i < pairs; ++i) {
    const double x = 2 * draw(&state) - 1, y = 2 * draw(&state) - 1;
    const double square = x * x + y * y;
    if (square > 1) continue;
    const double stretch = sqrt(-2 * log(square) / square);
    const double deviate_x = x * stretch, deviate_y = y * stretch;
    figures[SUM_X] += deviate_x;
    figures[SUM_Y] += deviate_y;
    figures[RINGS + (int)fmax(fabs(deviate_x), fabs(deviate_y))] += 1;
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv, "EP");
  const int64_t pairs = INT64_C(1) << LOG_PAIRS[class_number];
  double figures[FIGURES] = {0};

  start_clock();
  const int64_t first = share_begin(pairs, ranks, rank);
  tally(first, share_begin(pairs, ranks, rank + 1) - first, figures);
  MPI_Allreduce(MPI_IN_PLACE, figures, FIGURES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double seconds = stop_clock();

  const double* wanted = SUMS[class_number];
  int well = 1;
  if (rank == 0) {
    well &= agrees("the sum of x", figures[SUM_X], wanted[0], 1e-8);
    well &= agrees("the sum of y", figures[SUM_Y], wanted[1], 1e-8);
  }
  return finish(seconds, well);
}
