/* BT: a flow by steps that are implicit along one direction after the other. Each step gives
   block-tridiagonal equations along all lines, in blocks of 5 by 5.
 *
 * Communication, all point to point: in each time step, along x and along y, eight bundles of lines
 * go there (in class B on 16 ranks 80 KB each) and back (13 KB); then two layers to all four
 * neighbours (200 KB). Large messages, and few at a time, of which the next is under way while one
 * is worked on. Any number of ranks that leaves each two points in both directions. */
#include "lines.h"

static const int WIDTH[CLASSES] = {12, 24, 64, 102};
static const int STEPS[CLASSES] = {60, 200, 200, 200};
static const double STEP_TIME[CLASSES] = {0.01, 0.0008, 0.0008, 0.0003};

/* Published, to 1e-8. */
static const State CHANGES[CLASSES] = {
    {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02, 2.6436421275166801e-02,
     1.9211784131744430e-01},
    {0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
     0.2638427874317e+03},
    {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01, 2.3665622544678910e+01,
     2.5278963211748344e+02},
    {1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02, 3.2485447959084092e+02,
     3.2707541254659363e+03},
};
static const State DISTANCES[CLASSES] = {
    {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05, 7.3821238632439731e-05,
     8.9269630987491446e-04},
    {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
     0.1018045837718e+02},
    {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01, 8.8302063039765474e-01,
     9.7379901770829278e+00},
    {5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01, 1.2006925323559144e+01,
     1.2459576151035986e+02},
};

static State *u, *v;  /* the flow and its change */
static Matrix* ahead; /* how the change at a point depends on that at the next one */

enum { FORTH = VARIABLES * VARIABLES + VARIABLES, BACK = VARIABLES };

/* Divides m x = b for `count` columns of b, by elimination; b has `wide` numbers in a row. */
static void divide(Matrix m, double* b, int count, int wide) {
  for (int p = 0; p < VARIABLES; ++p) {
    const double by = 1 / m[p][p];
    for (int c = p + 1; c < VARIABLES; ++c) m[p][c] *= by;
    for (int c = 0; c < count; ++c) b[p * wide + c] *= by;
    for (int r = 0; r < VARIABLES; ++r) {
      if (r == p) continue;
      const double factor = m[r][p];
      for (int c = p + 1; c < VARIABLES; ++c) m[r][c] -= factor * m[p][c];
      for (int c = 0; c < count; ++c) b[r * wide + c] -= factor * b[p * wide + c];
    }
  }
}

/* Carries how the last point depends on the next (25 numbers), and its change without that (5). */
static void eliminate(int d, size_t at, int place, int count, double* carried) {
  (void)place;
  double* before = carried + VARIABLES * VARIABLES;
  for (int n = 0; n < count; ++n, at += (size_t)stride[d]) {
    Matrix behind, own_block, both;
    double equations[VARIABLES][VARIABLES + 1]; /* the matrix ahead, and the right-hand side */
    set_unit(own_block);
    add_diagonal(d, u[at], own_block);
    coupling(d, -1, u[at - (size_t)stride[d]], behind);
    coupling(d, 1, u[at + (size_t)stride[d]], both);
    for (int r = 0; r < VARIABLES; ++r) {
      for (int c = 0; c < VARIABLES; ++c) {
        equations[r][c] = both[r][c];
        for (int i = 0; i < VARIABLES; ++i)
          own_block[r][c] -= behind[r][i] * carried[i * VARIABLES + c];
      }
      equations[r][VARIABLES] = v[at][r];
      for (int i = 0; i < VARIABLES; ++i) equations[r][VARIABLES] -= behind[r][i] * before[i];
    }
    divide(own_block, &equations[0][0], VARIABLES + 1, VARIABLES + 1);
    for (int r = 0; r < VARIABLES; ++r) {
      memcpy(ahead[at][r], equations[r], sizeof ahead[at][r]);
      before[r] = v[at][r] = equations[r][VARIABLES];
    }
    memcpy(carried, ahead[at], sizeof(Matrix));
  }
}

/* Carries the change at the point ahead. */
static void substitute(int d, size_t at, int place, int count, double* carried) {
  (void)place;
  at += (size_t)(count - 1) * (size_t)stride[d];
  for (int n = 0; n < count; ++n, at -= (size_t)stride[d]) {
    add_product(ahead[at], carried, -1, v[at]);
    memcpy(carried, v[at], sizeof(State));
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv, "BT");
  lay_out(WIDTH[class_number], STEP_TIME[class_number]);
  u = make_field(), v = make_field();
  ahead = need(room, sizeof(Matrix));
  State* force = make_force();
  set_beginning(u);

  start_clock();
  for (int step = 0; step < STEPS[class_number]; ++step) {
    drive_with(force, u, v);
    scale(v, step_time);
    for (int d = 0; d < 3; ++d) {
      pass_lines(d, 1, FORTH, eliminate);
      pass_lines(d, -1, BACK, substitute);
    }
    add_change(u, v, 1);
  }
  const double seconds = stop_clock();

  drive_with(force, u, v);
  return finish(seconds, well_done(u, v, CHANGES[class_number], DISTANCES[class_number]));
}
