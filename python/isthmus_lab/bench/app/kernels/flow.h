/* Shared by LU, BT and SP: the flow of a compressible fluid in a cube, as the NAS report states it.
 * Five numbers at each point (density, three momenta, energy) go with the implicit time step of
 * each kernel to a known solution, from which they also begin at the cube's walls.
 *
 * The cube is divided along x and y among the processes of a plane; each has all z. A process keeps
 * two points more at the sides of its neighbours. */
#ifndef ISTHMUS_FLOW_H
#define ISTHMUS_FLOW_H

#include "nas.h"

enum { VARIABLES = 5, ENERGY = 4, GHOSTS = 2 };
typedef double State[VARIABLES];
typedef double Matrix[VARIABLES][VARIABLES];

/* The report's constants: ratio of specific heats C1 (C2 = C1 - 1), viscosity C3 C4, conduction C1
 * C5; artificial viscosity of second order by direction, and of fourth order. */
static const double C1 = 1.4, C2 = 0.4, C34 = 0.1, C15 = 1.4 * 1.4;
static const double ARTIFICIAL[3] = {0.75, 0.75, 1.0}, FOURTH = 0.25;

/* Coefficients of the known solution: 1, then x, y, z, then their squares, cubes and fourth powers.
 */
static const double SOLUTION[VARIABLES][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

static int width;                        /* points of the cube in each direction */
static double step_time;                 /* of one time step */
static double first_order, second_order; /* 1 / 2h and 1 / h^2 for the distance h of two points */

static int processes[2], position[2]; /* along x and y */
static int first[3], own[3];          /* points of this process: place of the first, and how many */
static int stride[3];                 /* between neighbouring points */
static size_t room;                   /* points, with the ghosts */
static int inner_begin[3], inner_end[3]; /* own points that are not at a wall */

static size_t point(int i, int j, int k) {
  return (size_t)(i + GHOSTS) + (size_t)(j + GHOSTS) * (size_t)stride[1] +
         (size_t)k * (size_t)stride[2];
}

static State* make_field(void) { return need(room, sizeof(State)); }

/* -- the division -------------------------------------------------------------------------------
 */

/* For a cube of `points` in each direction and this time step. */
static void lay_out(int points, double time) {
  width = points, step_time = time;
  second_order = (double)(width - 1) * (width - 1);
  first_order = 0.5 * (width - 1);
  int divided[2] = {0, 0};
  MPI_Dims_create(ranks, 2, divided);
  processes[0] = divided[1], processes[1] = divided[0];
  position[0] = rank % processes[0], position[1] = rank / processes[0];
  if (width / processes[1] < GHOSTS) refuse("this class has too few points for the ranks");
  for (int d = 0; d < 3; ++d) {
    const int shares = d < 2 ? processes[d] : 1, index = d < 2 ? position[d] : 0;
    first[d] = (int)share_begin(width, shares, index);
    own[d] = (int)share_begin(width, shares, index + 1) - first[d];
    inner_begin[d] = first[d] == 0 ? 1 : 0;
    inner_end[d] = first[d] + own[d] == width ? own[d] - 1 : own[d];
  }
  stride[0] = 1, stride[1] = own[0] + 2 * GHOSTS, stride[2] = stride[1] * (own[1] + 2 * GHOSTS);
  room = (size_t)stride[2] * (size_t)own[2];
}

/* The rank beside this one along x or y; MPI_PROC_NULL at a wall. */
static int neighbour(int direction, int step) {
  int at[2] = {position[0], position[1]};
  at[direction] += step;
  if (at[direction] < 0 || at[direction] >= processes[direction]) return MPI_PROC_NULL;
  return at[1] * processes[0] + at[0];
}

/* Copies two layers of points at `from` along a direction into `packed`, or out of it. */
static void copy_layers(State* u, int direction, int from, double* packed, int out) {
  double* next = packed;
  for (int k = 0; k < own[2]; ++k)
    for (int across = 0; across < own[1 - direction]; ++across)
      for (int layer = from; layer < from + GHOSTS; ++layer, next += VARIABLES) {
        double* state = u[direction == 0 ? point(layer, across, k) : point(across, layer, k)];
        memcpy(out ? next : state, out ? state : next, sizeof(State));
      }
}

enum { SIDES = 4 }; /* before and after along x, then along y */

/* Gets the neighbours' points at both sides of x and y. */
static void update_ghosts(State* u) {
  static double *out[SIDES], *in[SIDES];
  MPI_Request requests[2 * SIDES];
  for (int side = 0; side < SIDES; ++side) {
    const int d = side / 2, after = side % 2, peer = neighbour(d, after ? 1 : -1);
    const int count = GHOSTS * own[1 - d] * own[2] * VARIABLES;
    if (out[side] == NULL) {
      out[side] = need((size_t)count, sizeof(double));
      in[side] = need((size_t)count, sizeof(double));
    }
    copy_layers(u, d, after ? own[d] - GHOSTS : 0, out[side], 1);
    MPI_Irecv(in[side], count, MPI_DOUBLE, peer, side ^ 1, MPI_COMM_WORLD, &requests[side]);
    MPI_Isend(out[side], count, MPI_DOUBLE, peer, side, MPI_COMM_WORLD, &requests[SIDES + side]);
  }
  MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
  for (int side = 0; side < SIDES; ++side) {
    const int d = side / 2, after = side % 2;
    if (neighbour(d, after ? 1 : -1) == MPI_PROC_NULL) continue;
    copy_layers(u, d, after ? own[d] : -GHOSTS, in[side], 0);
  }
}

/* -- the known solution and the beginning -------------------------------------------------------
 */

static void solution(const double* at, double* state) {
  for (int m = 0; m < VARIABLES; ++m) {
    const double* c = SOLUTION[m];
    state[m] = c[0];
    for (int d = 0; d < 3; ++d)
      state[m] += at[d] * (c[1 + d] + at[d] * (c[4 + d] + at[d] * (c[7 + d] + at[d] * c[10 + d])));
  }
}

/* The place of an own point, from 0 to 1. */
static void coordinates(int i, int j, int k, double* at) {
  const double apart = 1.0 / (width - 1);
  at[0] = (first[0] + i) * apart, at[1] = (first[1] + j) * apart, at[2] = (first[2] + k) * apart;
}

static int at_wall(int i, int j, int k) {
  return i < inner_begin[0] || i >= inner_end[0] || j < inner_begin[1] || j >= inner_end[1] ||
         k < inner_begin[2] || k >= inner_end[2];
}

/* The solution at the walls, and between them what is interpolated from all six at once. */
static void set_beginning(State* u) {
  for (int k = 0; k < own[2]; ++k)
    for (int j = 0; j < own[1]; ++j)
      for (int i = 0; i < own[0]; ++i) {
        double at[3], along[3][VARIABLES], *state = u[point(i, j, k)];
        coordinates(i, j, k, at);
        if (at_wall(i, j, k)) {
          solution(at, state);
          continue;
        }
        for (int d = 0; d < 3; ++d) {
          State low, high;
          double wall[3] = {at[0], at[1], at[2]};
          wall[d] = 0, solution(wall, low);
          wall[d] = 1, solution(wall, high);
          for (int m = 0; m < VARIABLES; ++m) along[d][m] = (1 - at[d]) * low[m] + at[d] * high[m];
        }
        for (int m = 0; m < VARIABLES; ++m) {
          const double x = along[0][m], y = along[1][m], z = along[2][m];
          state[m] = x + y + z - x * y - y * z - z * x + x * y * z;
        }
      }
  update_ghosts(u);
}

/* -- what drives the flow -----------------------------------------------------------------------
 */

/* The values of one point: velocities, half of their square, energy by mass, pressure. */
typedef struct {
  double v[3], half, energy, pressure;
} Derived;

static Derived derive(const double* u) {
  Derived made;
  const double by_mass = 1 / u[0];
  for (int d = 0; d < 3; ++d) made.v[d] = u[1 + d] * by_mass;
  made.half = 0.5 * (made.v[0] * made.v[0] + made.v[1] * made.v[1] + made.v[2] * made.v[2]);
  made.energy = u[ENERGY] * by_mass;
  made.pressure = C2 * (u[ENERGY] - u[0] * made.half);
  return made;
}

static void flux(int d, const double* u, const Derived* of, double* f) {
  for (int m = 0; m < VARIABLES; ++m) f[m] = of->v[d] * u[m];
  f[1 + d] += of->pressure;
  f[ENERGY] += of->v[d] * of->pressure;
}

/* Weights of fourth differences around the point at `place`; nothing beyond the walls counts. */
static const double* fourth_difference(int place) {
  static const double FIRST[5] = {0, 0, 5, -4, 1}, SECOND[5] = {0, -4, 6, -4, 1};
  static const double INSIDE[5] = {1, -4, 6, -4, 1};
  static const double SECOND_LAST[5] = {1, -4, 6, -4, 0}, LAST[5] = {1, -4, 5, 0, 0};
  if (place == 1) return FIRST;
  if (place == 2) return SECOND;
  if (place == width - 3) return SECOND_LAST;
  return place == width - 2 ? LAST : INSIDE;
}

static inline double second_difference(double before, double here, double after) {
  return before - 2 * here + after;
}

/* Adds to `change` what happens at a point along one direction. */
static void drive_along(int d, int place, const State* u, const Derived* of, double* change) {
  const int s = stride[d];
  const double* weights = fourth_difference(place);
  State before, after;
  flux(d, u[-s], &of[-s], before);
  flux(d, u[s], &of[s], after);
  for (int m = 0; m < VARIABLES; ++m) {
    change[m] -= first_order * (after[m] - before[m]);
    change[m] += ARTIFICIAL[d] * second_order * second_difference(u[-s][m], u[0][m], u[s][m]);
    double fourth = 0; /* what has no weight may be beyond the memory */
    for (int n = -2; n <= 2; ++n)
      if (weights[n + 2] != 0) fourth += weights[n + 2] * u[n * s][m];
    change[m] -= FOURTH * fourth;
  }
  const double viscous = C34 * second_order;
  for (int j = 0; j < 3; ++j)
    change[1 + j] +=
        (j == d ? 4.0 / 3 : 1) * viscous * second_difference(of[-s].v[j], of[0].v[j], of[s].v[j]);
  change[ENERGY] += viscous * ((1 - C15) * second_difference(of[-s].half, of[0].half, of[s].half) +
                               second_difference(of[-s].v[d] * of[-s].v[d], of[0].v[d] * of[0].v[d],
                                                 of[s].v[d] * of[s].v[d]) /
                                   6 +
                               C15 * second_difference(of[-s].energy, of[0].energy, of[s].energy));
}

/* The change of the flow without a force, at all points but the walls. */
static void drive(const State* u, State* change) {
  static Derived* of;
  if (of == NULL) of = need(room, sizeof(Derived));
  for (size_t i = 0; i < room; ++i)
    if (u[i][0] != 0) of[i] = derive(u[i]); /* the corners of ghosts are never set */
  for (int k = inner_begin[2]; k < inner_end[2]; ++k)
    for (int j = inner_begin[1]; j < inner_end[1]; ++j)
      for (int i = inner_begin[0]; i < inner_end[0]; ++i) {
        const size_t at = point(i, j, k);
        const int places[3] = {first[0] + i, first[1] + j, first[2] + k};
        memset(change[at], 0, sizeof(State));
        for (int d = 0; d < 3; ++d) drive_along(d, places[d], u + at, of + at, change[at]);
      }
}

/* The force by which the known solution stands still. */
static State* make_force(void) {
  State *known = make_field(), *force = make_field();
  for (int k = 0; k < own[2]; ++k)
    for (int j = 0; j < own[1]; ++j)
      for (int i = 0; i < own[0]; ++i) {
        double at[3];
        coordinates(i, j, k, at);
        solution(at, known[point(i, j, k)]);
      }
  update_ghosts(known);
  drive(known, force);
  free(known);
  for (size_t i = 0; i < room; ++i)
    for (int m = 0; m < VARIABLES; ++m) force[i][m] = -force[i][m];
  return force;
}

static void drive_with(const State* force, const State* u, State* change) {
  drive(u, change);
  for (size_t i = 0; i < room; ++i)
    for (int m = 0; m < VARIABLES; ++m) change[i][m] += force[i][m];
}

static void scale(State* v, double factor) {
  for (size_t i = 0; i < room; ++i)
    for (int m = 0; m < VARIABLES; ++m) v[i][m] *= factor;
}

/* u += factor v at all points but the walls, and neighbours get to know. */
static void add_change(State* u, const State* v, double factor) {
  for (int k = inner_begin[2]; k < inner_end[2]; ++k)
    for (int j = inner_begin[1]; j < inner_end[1]; ++j)
      for (int i = inner_begin[0]; i < inner_end[0]; ++i) {
        const size_t at = point(i, j, k);
        for (int m = 0; m < VARIABLES; ++m) u[at][m] += factor * v[at][m];
      }
  update_ghosts(u);
}

/* -- derivatives, for the implicit steps --------------------------------------------------------
 */

/* The derivative of the flux along d by the state. */
static inline void flux_by_state(int d, const double* u, Matrix a) {
  const Derived of = derive(u);
  const double square = 2 * of.half;
  memset(a, 0, sizeof(Matrix));
  a[0][1 + d] = 1;
  for (int j = 0; j < 3; ++j) {
    double* row = a[1 + j];
    row[0] = -of.v[j] * of.v[d];
    row[1 + j] += of.v[d];
    row[1 + d] += of.v[j];
  }
  double *row = a[1 + d], *last = a[ENERGY];
  row[0] += C2 * of.half;
  for (int k = 0; k < 3; ++k) row[1 + k] -= C2 * of.v[k];
  row[ENERGY] = C2;
  last[0] = of.v[d] * (C2 * square - C1 * of.energy);
  for (int k = 0; k < 3; ++k) last[1 + k] = -C2 * of.v[d] * of.v[k];
  last[1 + d] += C1 * of.energy - C2 * of.half;
  last[ENERGY] = C1 * of.v[d];
}

/* The derivative of the terms of which viscosity takes the second difference along d, and of the
   artificial one. */
static inline void viscous_by_state(int d, const double* u, Matrix n) {
  const Derived of = derive(u);
  const double by_mass = C34 / u[0];
  memset(n, 0, sizeof(Matrix));
  for (int j = 0; j < 3; ++j) {
    const double share = (j == d ? 4.0 / 3 : 1) * by_mass;
    n[1 + j][0] = -share * of.v[j];
    n[1 + j][1 + j] = share;
  }
  double* last = n[ENERGY];
  last[0] = -by_mass * ((1 - C15) * 2 * of.half + of.v[d] * of.v[d] / 3 + C15 * of.energy);
  for (int k = 0; k < 3; ++k) last[1 + k] = by_mass * (1 - C15) * of.v[k];
  last[1 + d] += by_mass * of.v[d] / 3;
  last[ENERGY] = by_mass * C15;
  for (int m = 0; m < VARIABLES; ++m) n[m][m] += ARTIFICIAL[d];
}

/* The dependence of the step at a point on the neighbour whose state is `u`, before (side -1) or
   after it (side 1) along d. */
static inline void coupling(int d, int side, const double* u, Matrix m) {
  Matrix viscous;
  flux_by_state(d, u, m);
  viscous_by_state(d, u, viscous);
  for (int r = 0; r < VARIABLES; ++r)
    for (int c = 0; c < VARIABLES; ++c)
      m[r][c] = step_time * (side * first_order * m[r][c] - second_order * viscous[r][c]);
}

/* Adds to `m` how the step at a point depends on its own state along d. */
static inline void add_diagonal(int d, const double* u, Matrix m) {
  Matrix viscous;
  viscous_by_state(d, u, viscous);
  for (int r = 0; r < VARIABLES; ++r)
    for (int c = 0; c < VARIABLES; ++c) m[r][c] += 2 * step_time * second_order * viscous[r][c];
}

static inline void set_unit(Matrix m) {
  memset(m, 0, sizeof(Matrix));
  for (int i = 0; i < VARIABLES; ++i) m[i][i] = 1;
}

/* sum += factor m v. */
static inline void add_product(Matrix m, const double* v, double factor, double* sum) {
  for (int r = 0; r < VARIABLES; ++r)
    for (int c = 0; c < VARIABLES; ++c) sum[r] += factor * m[r][c] * v[c];
}

/* -- the result ---------------------------------------------------------------------------------
 */

/* Root mean squares over all points but the walls; of `u`, or of its distance to the solution. */
static void norms(const State* u, int distance, double* found) {
  memset(found, 0, sizeof(State));
  for (int k = inner_begin[2]; k < inner_end[2]; ++k)
    for (int j = inner_begin[1]; j < inner_end[1]; ++j)
      for (int i = inner_begin[0]; i < inner_end[0]; ++i) {
        State known = {0};
        double at[3];
        coordinates(i, j, k, at);
        if (distance) solution(at, known);
        const double* state = u[point(i, j, k)];
        for (int m = 0; m < VARIABLES; ++m)
          found[m] += (state[m] - known[m]) * (state[m] - known[m]);
      }
  MPI_Allreduce(MPI_IN_PLACE, found, VARIABLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int m = 0; m < VARIABLES; ++m) found[m] = sqrt(found[m] / pow(width - 2, 3));
}

/* Whether the norms are the published ones, to 1e-8: those of the change at the end, and those of
 * the distance to the solution. */
static int well_done(const State* u, const State* change, const double* changes,
                     const double* distances) {
  State found;
  int well = 1;
  norms(change, 0, found);
  for (int m = 0; m < VARIABLES && rank == 0; ++m)
    well &= agrees("a norm of the change", found[m], changes[m], 1e-8);
  norms(u, 1, found);
  for (int m = 0; m < VARIABLES && rank == 0; ++m)
    well &= agrees("a norm of the distance", found[m], distances[m], 1e-8);
  return well;
}

#endif
