/* LU: a flow by symmetric successive over-relaxation, where each point needs those before it in all
 * three directions, and on the way back those after it.
 *
 * Communication, all point to point: in each time step each plane z goes through the processes as a
 * wave, there and back, with one message along x and one along y (1 KB in class B on 16 ranks);
 * then two layers to all four neighbours (200 KB). Over a million small messages, but they flow: a
 * wave need not be over for the next to begin. So latency is met once for each way, not for each
 * message. Any number of ranks that leaves each two points in both directions. */
#include "flow.h"

static const int WIDTH[CLASSES] = {12, 33, 64, 102};
static const int STEPS[CLASSES] = {50, 300, 250, 250};
static const double STEP_TIME[CLASSES] = {0.5, 1.5e-3, 2.0, 2.0};
static const double OMEGA = 1.2;

/* Published, to 1e-8. */
static const State CHANGES[CLASSES] = {
    {1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03, 1.5029584435994323e-03,
     3.4264073155896461e-02},
    {0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01,
     0.2826799444189e+02},
    {7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02, 1.7845301160418537e+02,
     1.8384760349464247e+03},
    {3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02, 7.7812774739425265e+02,
     7.3087969592545314e+03},
};
static const State DISTANCES[CLASSES] = {
    {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05, 5.8474222595157350e-05,
     1.3103347914111294e-03},
    {0.4867877144216e+00, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01,
     0.1084277417792e+01},
    {2.9964085685471943e+01, 2.8194576365003349e+00, 7.3473412698774742e+00, 6.7139225687777051e+00,
     7.0715315688392578e+01},
    {1.1401176380212709e+02, 8.1098963655421574e+00, 2.8480597317698308e+01, 2.5905394567832939e+01,
     2.6054907504857413e+02},
};
static const double SURFACE[CLASSES] = {7.8418928865937083e+00, 0.1161399311023e+02,
                                        2.6030925604886277e+01, 4.7887162703308227e+01};

/* -- the waves ----------------------------------------------------------------------------------
 */

static double* edge; /* one side of a plane */

/* Gets or gives the side of plane k at `layer` along a direction. */
static void pass(State* v, int direction, int layer, int k, int step, int receive) {
  const int peer = neighbour(direction, step), count = own[1 - direction];
  if (peer == MPI_PROC_NULL) return;
  if (receive)
    MPI_Recv(edge, count * VARIABLES, MPI_DOUBLE, peer, direction, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) {
    double* state = v[direction == 0 ? point(layer, i, k) : point(i, layer, k)];
    double* packed = edge + i * VARIABLES;
    memcpy(receive ? state : packed, receive ? packed : state, sizeof(State));
  }
  if (!receive) MPI_Send(edge, count * VARIABLES, MPI_DOUBLE, peer, direction, MPI_COMM_WORLD);
}

/* Solves m x = b in place, by elimination. */
static void solve(Matrix m, double* b) {
  for (int p = 0; p < VARIABLES; ++p)
    for (int r = p + 1; r < VARIABLES; ++r) {
      const double factor = m[r][p] / m[p][p];
      for (int c = p + 1; c < VARIABLES; ++c) m[r][c] -= factor * m[p][c];
      b[r] -= factor * b[p];
    }
  for (int r = VARIABLES - 1; r >= 0; --r) {
    for (int c = r + 1; c < VARIABLES; ++c) b[r] -= m[r][c] * b[c];
    b[r] /= m[r][r];
  }
}

/* One point, which depends on its neighbours of one side (-1 or 1) in all directions. */
static void relax(const State* u, State* v, size_t at, int side) {
  Matrix diagonal, other;
  State sum = {0};
  set_unit(diagonal);
  for (int d = 0; d < 3; ++d) {
    const size_t beside = side < 0 ? at - (size_t)stride[d] : at + (size_t)stride[d];
    coupling(d, side, u[beside], other);
    add_product(other, v[beside], OMEGA, sum);
    add_diagonal(d, u[at], diagonal);
  }
  if (side < 0) {
    for (int m = 0; m < VARIABLES; ++m) v[at][m] -= sum[m];
    solve(diagonal, v[at]);
  } else {
    solve(diagonal, sum);
    for (int m = 0; m < VARIABLES; ++m) v[at][m] -= sum[m];
  }
}

/* A wave through all planes, from the corner of `side`. */
static void sweep(const State* u, State* v, int side) {
  int begins[3], count[3];
  for (int d = 0; d < 3; ++d) {
    begins[d] = side < 0 ? inner_begin[d] : inner_end[d] - 1;
    count[d] = inner_end[d] - inner_begin[d];
  }
  for (int n = 0; n < count[2]; ++n) {
    const int k = begins[2] - side * n;
    for (int d = 0; d < 2; ++d) pass(v, d, side < 0 ? -1 : own[d], k, side, 1);
    for (int b = 0; b < count[1]; ++b)
      for (int a = 0; a < count[0]; ++a)
        relax(u, v, point(begins[0] - side * a, begins[1] - side * b, k), side);
    for (int d = 0; d < 2; ++d) pass(v, d, side < 0 ? own[d] - 1 : 0, k, -side, 0);
  }
}

/* -- the pressure on a surface ------------------------------------------------------------------
 */

/* The weight of a place between two ends in a trapezoidal rule; 0 outside of them. */
static int weight(int place, const int* ends) {
  if (place < ends[0] || place > ends[1]) return 0;
  return place == ends[0] || place == ends[1] ? 1 : 2;
}

/* The integral over the six faces of the report's box. */
static double surface(const State* u) {
  const int ends[3][2] = {{1, width - 2}, {1, width - 3}, {2, width - 2}};
  double sum = 0;
  for (int k = 0; k < own[2]; ++k)
    for (int j = 0; j < own[1]; ++j)
      for (int i = 0; i < own[0]; ++i) {
        const int places[3] = {first[0] + i, first[1] + j, first[2] + k};
        for (int d = 0; d < 3; ++d) {
          if (places[d] != ends[d][0] && places[d] != ends[d][1]) continue;
          const int a = (d + 1) % 3, b = (d + 2) % 3;
          const int counted = weight(places[a], ends[a]) * weight(places[b], ends[b]);
          if (counted) sum += counted * derive(u[point(i, j, k)]).pressure;
        }
      }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / 4 / second_order;
}

int main(int argc, char** argv) {
  begin(&argc, &argv, "LU");
  lay_out(WIDTH[class_number], STEP_TIME[class_number]);
  edge = need((size_t)(own[0] > own[1] ? own[0] : own[1]), sizeof(State));
  State *u = make_field(), *v = make_field(), *force = make_force();
  set_beginning(u);
  const double share = 1 / (OMEGA * (2 - OMEGA));

  start_clock();
  drive_with(force, u, v);
  for (int step = 0; step < STEPS[class_number]; ++step) {
    scale(v, step_time);
    sweep(u, v, -1);
    sweep(u, v, 1);
    add_change(u, v, share);
    drive_with(force, u, v);
  }
  const double seconds = stop_clock();

  int well = well_done(u, v, CHANGES[class_number], DISTANCES[class_number]);
  const double found = surface(u);
  if (rank == 0) well &= agrees("the integral", found, SURFACE[class_number], 1e-8);
  return finish(seconds, well);
}
